"""Cython source to C, through the cache.

Which files Cython reads is found by reading what a source cimports and includes,
and those again: what it may read counts, whether it does or not.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ._errors import CompileError, LibraryError
from ._key import File, Key
from ._native_job import Source, as_bytes, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._cache import Cache

_CIMPORT = re.compile(rb"\bfrom\s+([\w.]+)\s+cimport\s*(\([^)]*\)|[^\n]*)|\bcimport\s+([^\n]*)")
_INCLUDE = re.compile(rb"\binclude\s+[\"']([^\"'\n]+)[\"']")
_PYTHON = re.compile(rb"\bcython\.cimports\.([\w.]+)")

# The C of a key, so that a hit in this process need not read it again.
_texts: dict[str, bytes] = {}
_MOST = 64


_SHOWN = re.compile(rb"^__version__ = [\"']([^\"']+)", re.MULTILINE)
_versions: dict[tuple[object, ...], str] = {}


def _version(folder: str) -> str:
    """Return Cython's version without importing it."""
    path = os.path.join(folder, "Shadow.py")
    st = os.stat(path)
    known = (path, st.st_ino, st.st_size, st.st_mtime_ns)
    version = _versions.get(known)
    if version is None:
        with open(path, "rb") as f:
            m = _SHOWN.search(f.read())
        if m is None:
            raise LibraryError(f"{path}: does not say which Cython it is")
        version = _versions[known] = m[1].decode()
    return version


@lru_cache(maxsize=4)
def _folder(_path: tuple[str, ...]) -> str:
    """Return where Cython is, for a sys.path."""
    spec = find_spec("Cython")
    if spec is None or spec.origin is None:
        raise LibraryError("Cython is not installed")
    return os.path.dirname(spec.origin)


def _modules(text: bytes) -> Iterator[str]:
    """Yield the names of modules whose declarations a source may read."""
    for m in _CIMPORT.finditer(text.replace(b"\\\n", b" ")):
        if m[1] is None:
            yield from re.findall(r"[\w.]+", m[3].decode("latin-1"))
            continue
        base = m[1].decode("latin-1")
        yield base
        for name in re.findall(r"\w+", m[2].decode("latin-1")):
            yield f"{base.rstrip('.')}.{name}" if base.strip(".") else base + name
    for m in _PYTHON.finditer(text):
        yield m[1].decode("latin-1")


def _places(module: str) -> list[str]:
    path = module.lstrip(".").replace(".", os.sep)
    return [f"{path}.pxd", os.path.join(path, "__init__.pxd"), f"{module.lstrip('.')}.pxd"]


class _Closure:
    """Every file beside the source that Cython may read."""

    def __init__(self, texts: dict[str, bytes], folders: list[str]) -> None:
        self.texts = texts  # in memory
        self.folders = folders
        self.files: dict[str, None] = {}
        self._seen: set[str] = set()

    def follow(self, text: bytes, folder: str | None) -> None:
        """Follow what a text names; folder is where it lies, None in memory."""
        names = [place for module in _modules(text) for place in _places(module)]
        names += [m[1].decode("utf-8", "surrogateescape") for m in _INCLUDE.finditer(text)]
        folders = self.folders if folder is None else [folder, os.path.dirname(folder), *self.folders]
        for name in names:
            if name in self.texts:
                self._visit(name, self.texts[name], None)
            for place in folders:
                path = os.path.join(place, name)
                if os.path.isfile(path) and path not in self._seen:
                    self.files[path] = None
                    with open(path, "rb") as f:
                        self._visit(path, f.read(), os.path.dirname(path))

    def _visit(self, name: str, text: bytes, folder: str | None) -> None:
        if name not in self._seen:
            self._seen.add(name)
            self.follow(text, folder)


def _key(source: Source, texts: dict[str, bytes], folders: list[str]) -> Key:
    own = _folder(tuple(sys.path))
    # Beside the source, given folders, and sys.path; what comes with Cython is known by its version.
    places = [d for d in [*folders, *sys.path] if os.path.isdir(d)]
    closure = _Closure(texts, list(dict.fromkeys(places)))
    text = texts[source.name]
    stem = os.path.splitext(source.name)[0]
    closure.follow(text + f"\ncimport {stem}\n".encode(), None)
    files = [path for path in closure.files if not path.startswith(own + os.sep)]
    parts: dict[str, object] = {
        "what": "cython 1", "source": text, "name": source.name,
        "cython": _version(own),
        "python": sys.version_info[:2],
        # Which of them is read is a matter of their order.
        "files": [os.path.basename(p) for p in files],
        "texts": {n: t for n, t in texts.items() if n.endswith((".pxd", ".pxi", ".pyx"))},
    }  # fmt: skip
    parts.update({f"file {i}": File(path) for i, path in enumerate(files)})
    return Key(parts).named(source.name)


def _run(source: Source, texts: dict[str, bytes], folders: list[str]) -> bytes:
    """Run Cython's compiler in a private folder; return the C."""
    with tempfile.TemporaryDirectory(prefix="jitcache-") as folder:
        for name, text in texts.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(text)
        output = os.path.splitext(source.name)[0] + ".c"
        command = [sys.executable, "-m", "cython", source.name, "-o", output]
        command += [word for d in folders for word in ("-I", d)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PYTHONSAFEPATH": "1"}
        status, log = run(command, folder, env)
        try:
            with open(os.path.join(folder, output), "rb") as f:
                text = f.read()
        except FileNotFoundError:
            text = b""
        if status != 0 or not text:
            raise CompileError(f"{source.name}: cython: exit status {status}\n{log}", log, command)
        return text


def translate(sources: list[Source], include_dirs: list[str], cache: Cache | None) -> list[Source]:
    """Return the sources with C in the place of Cython."""
    texts = {os.path.basename(s.name): s.read() for s in sources if s.text is not None or s.name.endswith(".pyx")}
    done: list[Source] = []
    for source in sources:
        if not source.name.endswith(".pyx"):
            done.append(source)
            continue
        folders = ([] if source.text is not None else [os.path.dirname(source.name)]) + include_dirs
        plain = Source(os.path.basename(source.name), None)
        c = _translated(plain, texts, folders, cache)
        done.append(Source(os.path.splitext(plain.name)[0] + ".c", c))
    return done


def _translated(source: Source, texts: dict[str, bytes], folders: list[str], cache: Cache | None) -> bytes:
    if cache is None:
        return _run(source, texts, folders)
    key = _key(source, texts, folders)
    text = _texts.get(key.hex)
    if text is None:
        with cache.acquire(key, kind="cython") as lease:
            if lease.data is None:
                text = _run(source, texts, folders)
                if _key(source, texts, folders) == key:  # else a file was changed meanwhile
                    lease.commit(text)
                else:
                    return text
            else:
                text = as_bytes(lease.data)
        if len(_texts) >= _MOST:
            _texts.clear()
        _texts[key.hex] = text
    return text
