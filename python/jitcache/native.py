"""C, C++ and Cython to objects, shared libraries and extension modules, through the cache.

    from jitcache import native

    entry = native.build({"residual.c": text}, flags=["-O3"], libraries=["m"])
    native.load_shared(entry).residual

    entry = native.build(["solver.pyx"], kind="extension")
    native.load_extension(entry, "solver").solve()

What is compiled once is recorded: every file that the compiler and all that it
starts look at, the names that they look for in vain, the environment that they
obey. As long as all of that is the same, a build runs no compiler. docs/native.md
says more.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING

from . import _ffi, _library
from ._blob import blob_of
from ._default import cache_of
from ._detached_entry import DetachedEntry
from ._entry import Entry
from ._errors import CompileError
from ._key import Key, KeyHandle, check
from ._log import warn
from ._lookup import find_built
from ._native_job import OUTPUT, BuildArguments, Job, Path, Sources, job_of, quote_flags, run, sources_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from ._blob import Blob
    from ._cache import Cache

__all__ = ["Built", "CompileError", "build", "key", "load_extension", "load_shared"]

_byref = ctypes.byref
_void_p = ctypes.c_void_p


class Built(Entry):
    """What was compiled: an Entry that knows where it is from.

    ``hit``: whether it was in the cache. ``refused``: why it is not kept, "" if it
    is.
    """

    __slots__ = ("hit", "refused")

    def __init__(self, blob: Blob, hit: bool) -> None:
        super().__init__(blob)
        self.hit = hit
        self.refused = ""

    @property
    def log(self) -> str:
        """What the compiler said when it was compiled: warnings, "" for none."""
        return str(self.attributes.get("log", ""))


class DetachedBuilt(DetachedEntry):
    """The same, where the library cannot be used."""

    __slots__ = ("hit", "refused")

    def __init__(self, data: bytes, log: str, name: str, refused: str) -> None:
        super().__init__(data, {"log": log}, "native", name)
        self.hit = False
        self.refused = refused

    log = Built.log


class _Request:
    """A job as the library has it. Freed with this object."""

    __slots__ = ("_free", "handle")

    def __init__(self, lib: _ffi.Library, job: Job) -> None:
        self.handle = _void_p()
        self._free = lib.jitcache_native_request_free
        check(lib, lib.jitcache_native_request_new(_byref(self.handle)))
        for letter, text in _parts(job):
            check(lib, lib.jitcache_native_request_add(self.handle, ord(letter), text, len(text)))

    def __del__(self) -> None:
        if self.handle:
            self._free(self.handle)


def _parts(job: Job) -> list[tuple[str, bytes]]:
    parts = [("c", os.fsencode(w)) for w in job.words]
    parts += [("o", os.fsencode(f)) for f in job.flags]
    parts += [("l", os.fsencode(f)) for f in job.link]
    parts += [("k", job.kind.encode()), ("N", job.name.encode())]
    if job.folder is not None:
        parts.append(("d", os.fsencode(job.folder)))
    for source in job.sources:
        if source.text is None:
            parts.append(("f", os.fsencode(source.name)))
        else:
            parts += [("s", source.name.encode()), ("t", source.text)]
    if job.abi:
        parts += [("x", b"SOABI"), ("y", job.abi.encode())]
    return parts


# Requests that were made before: the library hashes texts once per request.
_requests: dict[Job, _Request] = {}
_MOST = 256


def _request(lib: _ffi.Library, job: Job) -> _Request:
    request = _requests.get(job)
    if request is None:
        request = _Request(lib, job)
        if len(_requests) >= _MOST:
            _requests.clear()
        _requests[job] = request
    return request


def _run(job: Job, timeout: float | None) -> tuple[bytes, str]:
    """Run the compiler without the library; return what it made, and what it said."""
    with tempfile.TemporaryDirectory(prefix="jitcache-") as folder:
        for source in job.sources:
            if source.text is not None:
                with open(os.path.join(folder, source.name), "wb") as f:
                    f.write(source.text)
        command = job.command(folder)
        env = {k: v for k, v in os.environ.items() if k not in ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")}
        try:
            status, text = run(command, job.folder or folder, env, timeout)
        except subprocess.TimeoutExpired as e:
            raise CompileError(f"{job.words[0]}: has run for longer than {timeout} s, and was ended", "", command) from e
        except OSError as e:
            raise CompileError(f"{job.words[0]}: {e.strerror}", "", command) from e
        log = text.replace(folder + os.sep, "")
        try:
            with open(os.path.join(folder, OUTPUT), "rb") as f:
                data = f.read()
        except OSError:
            data = b""
        if status != 0 or not data:
            raise CompileError(f"{job.words[0]}: exit status {status}\n{log}", log, command)
        return data, log


def _built(job: Job, cache: Cache | None, timeout: float | None) -> Built | DetachedBuilt:
    """Look a job up, and compile it if need be."""
    lib = _library.load() if cache is None else cache._lib
    handle = None if cache is None else cache._handle
    if lib is None or (cache is not None and handle is None):
        data, log = _run(job, timeout)
        return DetachedBuilt(data, log, job.name, "")
    request = _request(lib, job)
    if handle is not None:
        status, blob = find_built(lib, handle, request.handle)
        if blob is not None:
            return Built(blob, True)
        if status in _ffi.NO_CACHE:
            data, log = _run(job, timeout)
            return DetachedBuilt(data, log, job.name, "")
        if status < 0:
            check(lib, status)
    return _compiled(lib, job, request, handle, timeout)


def _compiled(
    lib: _ffi.Library, job: Job, request: _Request, cache: ctypes.c_void_p | None, timeout: float | None
) -> Built:
    """Have the library compile: one of many, and observed. Signals are answered between the steps."""
    limit = 0 if timeout is None else max(1, int(timeout * 1000))
    running, blob, hit = _void_p(), _void_p(), ctypes.c_int32()
    check(lib, lib.jitcache_native_start(cache, request.handle, -1, limit, _byref(running)))
    try:
        status = _ffi.BUSY
        while status == _ffi.BUSY:
            status = lib.jitcache_native_step(running, _byref(blob), _byref(hit))
        why = lib.jitcache_last_error().decode("utf-8", "replace")
        if status in (_ffi.ERR_COMPILE, _ffi.TIMEOUT):
            log = lib.jitcache_native_last_log().decode("utf-8", "replace")
            raise CompileError(f"{why}\n{log}".rstrip("\n"), log, job.command("."))
        if status != _ffi.NOT_STORED:
            check(lib, status)
            why = ""
    finally:
        lib.jitcache_native_job_free(running)
    found = blob_of(lib, blob)
    built = Built(found, bool(hit.value))
    built.refused = why
    if why and cache is not None and lib.jitcache_last_miss() == _ffi.UNREPEATABLE:
        warn(f"native: not kept: {why}")
    return built


def _job(arguments: BuildArguments, cache: Cache | None) -> Job:
    arguments.check()
    arguments = arguments.with_placeholders()
    sources = sources_of(arguments.sources, arguments.name)
    if any(s.name.endswith(".pyx") for s in sources):
        from . import _cython

        arguments = arguments._replace(flags=[*arguments.flags, *quote_flags(sources)])
        sources = _cython.translate(sources, arguments.folders(), cache)
    return job_of(arguments, sources)


def build(
    sources: Sources,
    *,
    kind: str = "shared",
    name: str | None = None,
    flags: Sequence[Path] = (),
    include_dirs: Sequence[Path] = (),
    libraries: Sequence[str] = (),
    placeholders: Mapping[str, str] | None = None,
    cache: Cache | bool | None = None,
    compiler: Path | Sequence[str] | None = None,
    timeout: float | None = None,
) -> Built | DetachedBuilt:
    """Return what the sources compile to: from the cache, or compiled.

    ``sources`` is a path, several, or a mapping of file names to texts, headers
    among them; the suffix tells C, C++ and Cython (.pyx). A str with a newline is
    a text, of C. ``kind`` is "shared", "object" or "extension", a module for this
    Python. ``name`` is what you call the result, to explain misses. ``flags`` are
    the compiler's, after those of CPPFLAGS and CFLAGS or CXXFLAGS; LDFLAGS and
    ``libraries`` follow the sources. ``placeholders`` maps names that differ from
    run to run to names that do not: these are what is compiled and looked up.
    ``cache`` is a Cache, None for the default one, or False for none.
    ``compiler`` is a command; default CC or CXX, else gcc, cc or clang. It may run
    for ``timeout`` seconds, None for as long as it takes.

    However many threads and processes ask for the same at once, one compiles, and
    what it looks at is recorded: a later build hits if all of that is the same.
    What cannot be repeated is compiled each time, and ``refused`` says why.
    Raises CompileError, with the compiler's ``log`` and ``command``, LibraryError
    without a compiler or Cython, Error for a bad argument, and TypeError.
    """
    found = cache_of(cache)
    arguments = BuildArguments(sources, kind, name, flags, include_dirs, libraries, placeholders, compiler)
    return _built(_job(arguments, found), found, timeout)


def key(
    sources: Sources,
    *,
    kind: str = "shared",
    name: str | None = None,
    flags: Sequence[Path] = (),
    include_dirs: Sequence[Path] = (),
    libraries: Sequence[str] = (),
    placeholders: Mapping[str, str] | None = None,
    cache: Cache | bool | None = None,
    compiler: Path | Sequence[str] | None = None,
) -> Key | None:
    """Return the key under which ``build`` would find its result now, for ``Cache.explain`` or ``remove``.

    None: nothing is known for the world as it is. Raises what ``build`` raises.
    """
    lib = _library.load_or_raise()
    found = cache_of(cache)
    if found is None or found._handle is None:
        return None
    job = _job(BuildArguments(sources, kind, name, flags, include_dirs, libraries, placeholders, compiler), found)
    handle = _void_p()
    status = lib.jitcache_native_key(found._handle, _request(lib, job).handle, _byref(handle))
    if status == _ffi.MISS:
        return None
    check(lib, status)
    return Key._taken(lib, handle)


def load_extension(entry: Entry, modname: str) -> ModuleType:
    """Load an extension module under a name, whatever name it was compiled with.

    The module is not put into ``sys.modules``. In one process the same entry is
    one module, whose state all that load it share.
    Raises ImportError if the entry is no extension module.
    """
    import importlib.util
    import sys
    from importlib.machinery import ExtensionFileLoader

    own = _own_name(entry, modname)
    path = entry.path
    spec = importlib.util.spec_from_file_location(own, path, loader=ExtensionFileLoader(own, path))
    assert spec is not None
    assert spec.loader is not None
    before = sys.modules.get(own)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if own != modname:
        # Cython's modules put themselves there.
        if before is None and sys.modules.get(own) is module:
            del sys.modules[own]
        module.__name__ = modname
    return module


def _own_name(entry: Entry, modname: str) -> str:
    """Return the name that the module's PyInit_ function has."""
    last = modname.rpartition(".")[2]
    names = {str(m.decode()) for m in re.findall(rb"\0PyInit_(\w+)(?=\0)", entry.view)}
    if last in names or not names:
        return modname
    if len(names) > 1:
        raise ImportError(f"{modname}: the entry has {', '.join(sorted(names))}", name=modname)
    return str(names.pop())


def load_shared(entry: Entry) -> ctypes.CDLL:
    """Load a shared library with ctypes. It stays loaded; the entry may be closed."""
    return ctypes.CDLL(entry.path)
