"""Native jobs: the arguments of ``native.build`` as texts, flags and a compiler's command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Union

from . import _ffi
from ._errors import Error, LibraryError
from ._native_process import Environment, Process, environment_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Path = Union[str, "os.PathLike[str]"]
Sources = Union[Path, "Sequence[Path]", "Mapping[str, str | bytes]"]

KINDS = ("shared", "object", "extension")
_CXX = (".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP")

# Flags that belong to the libraries, and stand behind the sources.
_LINK = ("-l", "-Wl,", "-L")

# The flags of Python's own build, without those for warnings and debugging.
_EXTENSION = ("-O2", "-fwrapv", "-DNDEBUG")

# The name of the result in the folder that is made for a compile (native/request.go).
OUTPUT = ".out"


class Source(NamedTuple):
    """A source or header: a text with a plain name, or an absolute path without a text."""

    name: str
    text: bytes | None

    @property
    def language(self) -> str:
        """The language by its name for compilers; "" for a file that is not compiled, such as a header."""
        suffix = os.path.splitext(self.name)[1]
        return "c" if suffix == ".c" else "c++" if suffix in _CXX else ""

    def read(self) -> bytes:
        """Return the text."""
        if self.text is not None:
            return self.text
        with open(self.name, "rb") as f:
            return f.read()


class Job(NamedTuple):
    """One compile. Equal jobs have equal results, as long as the files and the compiler are the same."""

    words: tuple[str, ...]  # the compiler's command
    flags: tuple[str, ...]
    link: tuple[str, ...]  # flags behind the sources
    sources: tuple[Source, ...]
    kind: str
    name: str
    abi: str  # Python's, for extensions
    folder: str | None  # where the compiler runs; None: in the private folder, which is made for the compile
    environment: tuple[str, ...] = ()  # which variables it gets

    @property
    def process(self) -> Process | None:
        """The process that it is given: this one, as it is."""
        return None

    @property
    def output(self) -> str:
        """The name of the result in the private folder."""
        return OUTPUT

    def texts(self) -> list[tuple[str, bytes]]:
        """Return the files that are made in the private folder."""
        return [(s.name, s.text) for s in self.sources if s.text is not None]

    def parts(self) -> list[tuple[str, bytes]]:
        """Return the parts of the request: jitcache_native.h has the letters."""
        parts = [("c", os.fsencode(w)) for w in self.words]
        parts += [("o", os.fsencode(f)) for f in self.flags]
        parts += [("l", os.fsencode(f)) for f in self.link]
        parts += [("k", self.kind.encode()), ("N", self.name.encode())]
        parts += [("E", word.encode()) for word in self.environment]
        if self.folder is not None:
            parts.append(("d", os.fsencode(self.folder)))
        for source in self.sources:
            if source.text is None:
                parts.append(("f", os.fsencode(source.name)))
            else:
                parts += [("s", os.fsencode(source.name)), ("t", source.text)]
        if self.abi:
            parts += [("x", b"SOABI"), ("y", self.abi.encode())]
        return parts

    def command(self, private: str) -> list[str]:
        """Return the command; ``private`` is the folder with the texts. native/request.go makes the same command."""

        def place(name: str) -> str:
            return name if self.folder is None or os.path.isabs(name) else os.path.join(private, name)

        inputs = [word for s in self.sources if s.language for word in ("-x", s.language, place(s.name))]
        kind = ["-c"] if self.kind == "object" else ["-shared", "-fPIC"]
        return [
            *self.words, *kind, *self.flags, f"-ffile-prefix-map={private}=.", *inputs, "-x", "none", *self.link,
            "-o", place(OUTPUT),
        ]  # fmt: skip


class Command(NamedTuple):
    """Any command that makes one file. In its arguments the byte 1 stands for the private folder."""

    arguments: tuple[str, ...]
    sources: tuple[Source, ...]  # with texts
    output: str
    folder: str | None  # where it runs; None: in the private folder
    variables: tuple[str, ...]  # the environment variables that it gets; (): all
    entry: str  # the kind of its entry
    name: str
    labels: tuple[tuple[str, str], ...] = ()  # what else the result depends on
    derived: bool = False  # whether the texts follow from the labels, and do not count
    timeless: bool = False  # whether it ignores the times of files
    environment: tuple[str, ...] = ()  # which variables it gets
    process: Process | None = None  # the process that it is given; None: this one

    def texts(self) -> list[tuple[str, bytes]]:
        """Return the files that are made in the private folder."""
        return [(s.name, s.text) for s in self.sources if s.text is not None]

    def parts(self) -> list[tuple[str, bytes]]:
        """Return the parts of the request."""
        parts = [("a", os.fsencode(w)) for w in self.arguments]
        parts += [("e", v.encode()) for v in self.variables]
        parts += [("E", word.encode()) for word in self.environment]
        parts += self.process.parts() if self.process is not None else []
        parts += [("O", os.fsencode(self.output)), ("K", self.entry.encode()), ("N", self.name.encode())]
        if self.timeless:
            parts.append(("T", b"1"))
        if self.folder is not None:
            parts.append(("d", os.fsencode(self.folder)))
        for name, text in self.texts():
            parts += [("s", os.fsencode(name)), ("u" if self.derived else "t", text)]
        for label, value in self.labels:
            parts += [("x", label.encode()), ("y", value.encode())]
        return parts

    def command(self, private: str) -> list[str]:
        """Return the command; ``private`` is the private folder."""
        return [word.replace("\1", private) for word in self.arguments]


def as_bytes(text: str | bytes) -> bytes:
    """Return a text as bytes."""
    if isinstance(text, bytes):
        return text
    if not isinstance(text, str):
        raise TypeError(f"sources: want str or bytes, not {type(text).__qualname__}")
    return text.encode("utf-8", "surrogateescape")


def sources_of(sources: Sources, name: str | None) -> list[Source]:
    """Return the sources as a list; they are given as a path, several, a mapping of names to texts, or a text."""
    if isinstance(sources, str) and "\n" in sources:  # no path has one
        sources = {(name or "source") + ".c": sources}
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if hasattr(sources, "items"):
        found = [Source(str(n), as_bytes(t)) for n, t in sources.items()]
        bad = [s.name for s in found if os.sep in s.name or s.name[:1] in ("", ".", "-")]
        if bad:
            raise Error(f"source {bad[0]!r}: want a plain file name", _ffi.ERR_ARGUMENT)
    else:
        found = [Source(os.path.abspath(os.fspath(p)), None) for p in sources]
    if not found:
        raise Error("sources: there are none", _ffi.ERR_ARGUMENT)
    return found


def canonical(sources: list[Source], placeholders: Mapping[str, str]) -> list[Source]:
    """Return the sources with placeholders for names that differ from run to run, in texts and in file names."""
    # The longest first: one name may begin with another.
    names = sorted(placeholders.items(), key=lambda item: -len(item[0]))
    done = []
    for source in sources:
        text, file = source.read(), os.path.basename(source.name)
        new = text
        for name, placeholder in names:
            new = new.replace(as_bytes(name), as_bytes(placeholder))
            file = file.replace(name, placeholder)
        for name, placeholder in names:
            if as_bytes(placeholder) in text:
                _check_clash(text, name, placeholder)
        done.append(Source(file, new))
    return done


def run(command: list[str], folder: str, env: Mapping[str, str], timeout: float | None = None) -> tuple[int, str]:
    """Run a compiler in a folder; return its exit status, and what it printed."""
    p = subprocess.run(  # noqa: S603
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=timeout,
    )
    return p.returncode, p.stdout.decode("utf-8", "replace")


def _check_clash(text: bytes, name: str, placeholder: str) -> None:
    """Raise Error if a placeholder would give two identifiers of a text the same name."""
    words = set(re.findall(rb"\w+", text))
    renamed = {w.replace(as_bytes(name), as_bytes(placeholder)) for w in words if as_bytes(name) in w}
    both = renamed & words
    if both:
        raise Error(f"placeholder {placeholder!r}: the source has {min(both).decode()!r} already", _ffi.ERR_ARGUMENT)


def compiler_for(languages: set[str], compiler: Path | Sequence[str] | None) -> tuple[str, ...]:
    """Return the compiler's command: the one that is asked for, else CC or CXX, else the first that is installed."""
    cxx = "c++" in languages
    if compiler is None:
        compiler = os.environ.get("CXX" if cxx else "CC") or None
    if isinstance(compiler, str):
        words = tuple(shlex.split(compiler))
    elif isinstance(compiler, os.PathLike):
        words = (os.fspath(compiler),)
    elif compiler is not None:
        words = tuple(compiler)
    else:
        words = _any_compiler(cxx, os.environ.get("PATH", ""))
    if not words:
        raise Error("compiler: is empty", _ffi.ERR_ARGUMENT)
    return words


@lru_cache(maxsize=16)
def _any_compiler(cxx: bool, path: str) -> tuple[str, ...]:
    names = ("g++", "c++", "clang++") if cxx else ("gcc", "cc", "clang")
    for name in names:
        if shutil.which(name, path=path):
            return (name,)
    from importlib.util import find_spec

    if find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "c++" if cxx else "cc")
    raise LibraryError(f"no compiler: none of {', '.join(names)} is in PATH, and CC and CXX are not set")


def _joined(flags: Sequence[Path]) -> list[str]:
    """Return flags as texts. -l and -L are joined with their arguments, so that both move together."""
    found: list[str] = []
    wants = ""
    for item in flags:
        flag = os.fspath(item)
        if not wants and flag in ("-l", "-L"):
            wants = flag
        else:
            found.append(wants + flag)
            wants = ""
    return [*found, wants] if wants else found


# Whether words name something in a folder, by words, folder and the folder's time of modification.
_relative: dict[tuple[tuple[str, ...], str, int], bool] = {}

# Variables with lists of folders: an empty element is the folder that the compiler runs in.
_PATHS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "LD_LIBRARY_PATH")

# When a folder's last change is older than this, a further change would give it another time.
_SETTLED_NS = 3_000_000_000


def folder_for(words: tuple[str, ...]) -> str | None:
    """Return the folder to compile in: the caller's, if a word may name something in it, else None.

    Only the compiler knows what a word means: ``-Iinc``, ``@flags`` and
    ``-Wl,-T,script.ld,-z,now`` all name files or folders. So every word counts that
    contains the name of something in the caller's folder.
    """
    try:
        here = os.getcwd()
        changed = os.stat(here).st_mtime_ns
    except OSError:
        return None
    if any(not f.startswith("/") for v in _PATHS if (value := os.environ.get(v)) for f in value.split(os.pathsep)):
        return here
    known = (words, here, changed)
    found = _relative.get(known)
    if found is None:
        names = sorted({*os.listdir(here), ".", ".."}, key=len)
        found = any(_is_named(word, name) for name in names for word in words)
        if len(_relative) >= _MOST:
            _relative.clear()
        if time.time_ns() - changed > _SETTLED_NS:
            _relative[known] = found
    return here if found else None


def _is_named(word: str, name: str) -> bool:
    """Return whether a word contains a name, at its end or before a character that cannot belong to a file name."""
    at = word.find(name)
    while at >= 0:
        end = at + len(name)
        if end == len(word) or not (word[end].isalnum() or word[end] in "._-+"):
            return name not in (".", "..") or at == 0 or word[at - 1] != "."
        at = word.find(name, at + 1)
    return False


_MOST = 256


def _from_environment(languages: set[str]) -> list[str]:
    """Return the flags in CPPFLAGS and in CFLAGS or CXXFLAGS."""
    names = ["CPPFLAGS", "CXXFLAGS" if "c++" in languages else "CFLAGS"]
    return [word for name in names for word in shlex.split(os.environ.get(name, ""))]


@cache
def _python_headers() -> list[str]:
    return list(dict.fromkeys(sysconfig.get_path(p) for p in ("include", "platinclude")))


class BuildArguments(NamedTuple):
    """The arguments of ``native.build``."""

    sources: Sources
    kind: str
    name: str | None
    flags: Sequence[Path]
    include_dirs: Sequence[Path]
    libraries: Sequence[str]
    placeholders: Mapping[str, str] | None
    compiler: Path | Sequence[str] | None
    environment: Environment

    def check(self) -> None:
        """Raise Error or TypeError for bad arguments."""
        if self.kind not in KINDS:
            raise Error(f"kind: want {', '.join(KINDS)}, not {self.kind!r}", _ffi.ERR_ARGUMENT)
        for what in ("flags", "include_dirs", "libraries"):
            if isinstance(getattr(self, what), (str, bytes)):
                raise TypeError(f"{what}: want a sequence of str, not {type(getattr(self, what)).__qualname__}")

    def folders(self) -> list[str]:
        """Return the include folders, absolute."""
        return [os.path.abspath(os.fspath(d)) for d in self.include_dirs]

    def with_placeholders(self) -> BuildArguments:
        """Return the arguments with the names replaced by their placeholders."""
        if not self.placeholders:
            return self
        found = sources_of(self.sources, self.name)
        done = canonical(found, self.placeholders)
        flags = [*(os.fspath(f) for f in self.flags), *quote_flags(found)]
        name = self.name
        for real, placeholder in self.placeholders.items():
            flags = [f.replace(real, placeholder) for f in flags]
            name = None if name is None else name.replace(real, placeholder)
        return self._replace(sources={s.name: s.text or b"" for s in done}, flags=flags, name=name, placeholders=None)


def quote_flags(sources: list[Source]) -> list[str]:
    """Return flags by which the texts of sources that lie on disk still find the headers beside them."""
    return list(dict.fromkeys(f"-iquote{os.path.dirname(s.name)}" for s in sources if s.text is None))


def job_of(arguments: BuildArguments, sources: list[Source]) -> Job:
    """Return the compile of the sources."""
    languages = {s.language for s in sources} - {""}
    if not languages:
        names = ", ".join(s.name for s in sources)
        hint = "; a source without a newline is taken for a path" if isinstance(arguments.sources, str) else ""
        raise Error(f"sources: none of {names} is C, C++ or Cython{hint}", _ffi.ERR_ARGUMENT)
    kind, folders = arguments.kind, arguments.folders()
    if kind == "extension":
        folders += _python_headers()
    words = compiler_for(languages, arguments.compiler)
    own = _joined([*_from_environment(languages), *arguments.flags])
    behind = [f for f in own if f.startswith(_LINK) or (not f.startswith("-") and f.endswith((".o", ".a", ".so")))]
    before = [f for f in own if f not in behind]
    link = [*behind, *shlex.split(os.environ.get("LDFLAGS", "")), *(f"-l{lib}" for lib in arguments.libraries)]
    return Job(
        words,
        (*(_EXTENSION if kind == "extension" else ()), *before, *(f"-I{d}" for d in folders)),
        () if kind == "object" else tuple(link),
        tuple(sources),
        kind,
        arguments.name or "",
        str(sysconfig.get_config_var("SOABI") or "") if kind == "extension" else "",
        folder_for((*words, *own, *link)),
        environment_words(arguments.environment),
    )
