"""The C++ compiler: one function of PyTorch's runs all commands of Inductor and AOTInductor; each is an observed build.

A command runs in a private folder, with its sources in it under plain names. So no
folder of PyTorch's is in a key or in a result: the next user, machine or temporary
folder finds what this one has compiled.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import shlex
import shutil
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from jitcache import Error
from jitcache._errors import CompileError
from jitcache._native_job import Command, Source
from jitcache._native_request import built

from . import KIND, _cache, _elf

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is a source of a command. All other files are named by their paths, and observed.
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".o", ".s", ".S")

#: The most bytes of a source. The weights of an AOTInductor model are an object; a cache does not want them.
_MOST = 64 << 20

#: Which variables a compiler gets: what compilers and their wrappers obey. A kernel is linked with libtorch, which has
#: 7,000 words that could be names of variables (OMP_NUM_THREADS, LOAD); none of them reaches the compiler.
_ENVIRONMENT = ("strict",)

_here = threading.local()


@contextlib.contextmanager
def left_to_torch() -> Iterator[None]:
    """Within, this thread's commands are run by PyTorch."""
    _here.plain = True
    try:
        yield
    finally:
        _here.plain = False


def building(original: Any) -> Any:
    """Return PyTorch's function that runs a compiler; what it makes comes from the cache."""

    @functools.wraps(original)
    def run_compile_cmd(cmd_line: str, cwd: str) -> None:
        words = shlex.split(cmd_line)
        wish = None if getattr(_here, "plain", False) else _wish(words, cwd)
        if wish is None:
            original(cmd_line, cwd)
            return
        try:
            entry = built(wish, _cache(), None)
            if entry.refused:
                _cache.reasons[entry.refused] += 1
            _place(entry.view, words[words.index("-o") + 1])
        except CompileError as e:
            from torch._inductor import exc

            raise exc.CppCompileError(words, e.log) from e
        except (Error, OSError) as e:
            _cache.reasons[type(e).__name__] += 1
            logging.getLogger("jitcache").info("torch: %s: left to PyTorch: %s: %s", wish.name, type(e).__name__, e)
            original(cmd_line, cwd)

    return run_compile_cmd


def _wish(words: list[str], cwd: str) -> Command | None:
    """Return a command as an observed one in a private folder; None for one that is left to PyTorch, and note why."""
    try:
        why, wish = _read(words, cwd)
    except (OSError, ValueError, IndexError) as e:
        why, wish = type(e).__name__, None
    if why:
        _cache.reasons[why] += 1
    return wish


def _read(words: list[str], cwd: str) -> tuple[str, Command | None]:
    if "-E" in words or "c++-header" in words or "-o" not in words:
        return "no object or library", None
    if os.listdir(cwd):  # words may name what is there
        return "runs in a folder with files", None
    at = words.index("-o") + 1
    texts: dict[str, bytes] = {}
    said = [*words[:at], os.path.basename(words[at]), *words[at + 1 :]]
    for i, word in enumerate(words):
        if i in (0, at) or not (os.path.isabs(word) and word.endswith(_SOURCES) and os.path.isfile(word)):
            continue
        name = said[i] = os.path.basename(word)
        if name in texts or name == said[at] or not name[:1].isalnum():
            return "names that clash", None
        if os.path.getsize(word) > _MOST:
            return "large input", None
        with open(word, "rb") as f:
            texts[name] = f.read()
    if not texts:
        return "no sources", None
    sources = tuple(Source(name, text) for name, text in texts.items())
    wish = Command(tuple(said), sources, said[at], None, (), KIND, said[at], environment=environment_of(words[0]))
    return "", wish


def environment_of(compiler: str) -> tuple[str, ...]:
    """Return which variables a compiler gets: all, if it is somebody's script. Raises OSError."""
    return () if _is_script(compiler) else _ENVIRONMENT


@functools.lru_cache(maxsize=8)
def _is_script(compiler: str) -> bool:
    """Return whether a compiler is a script, which may obey any variable."""
    path = shutil.which(compiler)
    if path is None:
        return True
    with open(path, "rb") as f:
        return f.read(2) == b"#!"


def _place(data: memoryview, path: str) -> None:
    """Put a whole file where PyTorch has asked for it. Raises OSError."""
    made, temporary = tempfile.mkstemp(prefix=".jitcache.", dir=os.path.dirname(path))
    try:
        with os.fdopen(made, "wb") as f:
            f.write(data)
            os.fchmod(f.fileno(), (0o666 if path.endswith(".o") else 0o777) & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@functools.lru_cache(maxsize=1)
def _umask() -> int:
    with open("/proc/self/status", "rb") as f:
        return next(int(line.split()[1], 8) for line in f if line.startswith(b"Umask:"))


def repairing(original: Any) -> Any:
    """Return PyTorch's function that compiles what is missing; a library that is cut short is missing too."""

    @functools.wraps(original)
    def _worker_compile_cpp(lock_path: str, cpp_builders: Any) -> None:
        for builder in cpp_builders:
            path = builder.get_target_file_path()
            with contextlib.suppress(OSError):
                if path.endswith((".so", ".o")) and os.path.exists(path) and not _elf.is_whole(path):
                    _cache.reasons["cut file in PyTorch's folder"] += 1
                    os.unlink(path)
        original(lock_path, cpp_builders)

    return _worker_compile_cpp


def including(original: Any) -> Any:
    """Return a function in place of PyTorch's that precompiles a header: it is included as it is.

    A precompiled header has 158 MB, and two of the same header differ: whoever reads one
    finds nothing that somebody else has compiled.
    """

    @functools.wraps(original)
    def _precompile_header(header: str, *_: Any, **__: Any) -> str:
        return header

    return _precompile_header
