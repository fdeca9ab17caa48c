"""C, C++ and Cython to objects, shared libraries and extension modules, through the cache.

    from jitcache import native

    entry = native.build({"residual.c": text}, flags=["-O3"], libraries=["m"])
    native.load_shared(entry).residual

    entry = native.build(["solver.pyx"], kind="extension")
    native.load_extension(entry, "solver").solve()

What would be compiled is looked up first, by all that it depends on: the sources,
the flags, every header and library that is read, the compiler by what it is, the
environment that it obeys. A hit runs no compiler. docs/native.md tells what is
keyed and what is refused.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any

from . import _ffi, _library
from ._default import cache_of
from ._detached_entry import DetachedEntry
from ._entry import Entry
from ._errors import CompileError
from ._key import Key, KeyHandle
from ._lease import commit, wait
from ._log import warn
from ._lookup import find_code
from ._native_job import BuildArguments, Job, Path, Sources, job_of, quote_flags, run, sources_of

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

    ``hit``: whether it was in the cache. ``refused``: why it cannot be, "" if it
    can.
    """

    __slots__ = ()

    hit: bool
    refused: str

    @property
    def log(self) -> str:
        """What the compiler said when it was compiled: warnings, "" for none."""
        return str(self.attributes.get("log", ""))


class _Stored(Built):
    """The same, in a cache."""

    __slots__ = ("hit", "refused")

    def __init__(self, blob: Blob, hit: bool) -> None:
        super().__init__(blob)
        self.hit = hit
        self.refused = ""


class _Detached(DetachedEntry, Built):
    """The same, where nothing could be kept."""

    __slots__ = ("hit", "refused")

    def __init__(self, data: bytes, log: str, name: str, refused: str) -> None:
        super().__init__(data, {"log": log}, "native", name)
        self.hit = False
        self.refused = refused


class _Request:
    """A job as the library has it. Freed with this object."""

    __slots__ = ("_free", "handle")

    def __init__(self, lib: _ffi.Library, job: Job) -> None:
        self.handle = _void_p()
        self._free = lib.jitcache_native_request_free
        _ffi.check(lib, lib.jitcache_native_request_new(_byref(self.handle)))
        for letter, text in _parts(job):
            _ffi.check(lib, lib.jitcache_native_request_add(self.handle, ord(letter), text, len(text)))

    def __del__(self) -> None:
        if self.handle:
            self._free(self.handle)


def _parts(job: Job) -> list[tuple[str, bytes]]:
    parts = [("c", os.fsencode(w)) for w in job.words]
    parts += [("o", os.fsencode(f)) for f in (*job.flags, *job.link)]
    parts += [("k", job.kind.encode()), ("N", job.name.encode())]
    for source in job.sources:
        if source.text is None:
            parts.append(("f", os.fsencode(source.name)))
        else:
            parts += [("s", source.name.encode()), ("t", source.text)]
    if job.abi:
        parts += [("x", b"SOABI"), ("y", job.abi.encode())]
    return parts


# Requests that were made before: the library hashes texts once per request, and
# reads these variables then.
_requests: dict[Any, _Request] = {}
_MOST = 256
_VARIABLES = tuple(map(os.fsencode, (
    "PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
    "SOURCE_DATE_EPOCH", "LD_RUN_PATH", "CCC_OVERRIDE_OPTIONS", "GCC_ROOT", "SYSROOT", "LDEMULATION",
    "CLANG_CONFIG_FILE_SYSTEM_DIR", "CLANG_CONFIG_FILE_USER_DIR", "OMPI_CC", "OMPI_CXX", "OMPI_CFLAGS",
    "OMPI_CXXFLAGS", "OMPI_CPPFLAGS", "OMPI_LDFLAGS", "OMPI_LIBS", "MPICH_CC", "MPICH_CXX", "I_MPI_CC", "I_MPI_CXX",
    "COLLECT_NO_DEMANGLE", "GNUTARGET", "LD_AS_NEEDED", "LD_LIBRARY_PATH", "LD_PRELOAD",
)))  # fmt: skip
# The environment's own table, if Python shows it, answers in a tenth of the time.
_environment: Any = getattr(os.environ, "_data", None)
if not isinstance(_environment, dict):
    _environment = os.environb


def _request(lib: _ffi.Library, job: Job) -> _Request:
    known = (job, tuple(map(_environment.get, _VARIABLES)))
    request = _requests.get(known)
    if request is None:
        request = _Request(lib, job)
        if len(_requests) >= _MOST:
            _requests.clear()
        _requests[known] = request
    return request


def _run(job: Job) -> tuple[bytes, str]:
    """Run the compiler in a private folder; return what it made, and what it said."""
    with tempfile.TemporaryDirectory(prefix="jitcache-") as folder:
        for source in job.sources:
            if source.text is not None:
                with open(os.path.join(folder, source.name), "wb") as f:
                    f.write(source.text)
        output = os.path.join(folder, ".out")
        command = job.command(folder, output)
        # As the library asks the compiler (capi/native_run.c).
        env = {**os.environ, "LC_ALL": "C"}
        for name in ("LANGUAGE", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"):
            env.pop(name, None)
        try:
            status, text = run(command, folder, env)
        except OSError as e:
            raise CompileError(f"{job.words[0]}: {e.strerror}", "", command) from e
        log = text.replace(folder + os.sep, "")
        try:
            with open(output, "rb") as f:
                data = f.read()
        except OSError:
            data = b""
        if status != 0 or not data:
            raise CompileError(f"{job.words[0]}: exit status {status}\n{log}", log, command)
        return data, log


def _built(job: Job, cache: Cache | None) -> Built:
    """Look a job up, and compile it if need be."""
    if cache is None or cache._lib is None or cache._handle is None:
        data, log = _run(job)
        return _Detached(data, log, job.name, "")
    lib = cache._lib
    request = _request(lib, job)
    status, blob, key_handle = find_code(lib.jitcache_native_lookup, lib, cache._handle, request.handle)
    if blob is not None:
        return _Stored(blob, True)
    if status < 0:
        return _unkeyed(lib, job, status)
    if not key_handle:  # nothing is cached
        data, log = _run(job)
        return _Detached(data, log, job.name, "")
    key = KeyHandle(lib, _void_p(key_handle))
    blob, lease, _ = wait(cache, lib, key.handle, None)
    if blob is not None:
        return _Stored(blob, True)
    try:
        data, log = _run(job)
        about = json.dumps({"log": log, "compiler": " ".join(job.words)}).encode()
        lease, given = None, lease
        _, blob = commit(cache, given, data, about)
    finally:
        if lease is not None:
            lib.jitcache_lease_free(lease)
    return _Detached(data, log, job.name, "") if blob is None else _Stored(blob, False)


def _unkeyed(lib: _ffi.Library, job: Job, status: int) -> Built:
    """Compile what has no key: the compiler says best what is wrong, and what cannot be keyed works all the same."""
    why = lib.jitcache_last_error().decode("utf-8", "replace")
    if status not in (_ffi.ERR_COMPILE, _ffi.ERR_REFUSED, _ffi.ERR_FORK, _ffi.ERR_INTERNAL):
        _ffi.check(lib, status)
    data, log = _run(job)
    warn(f"native: not cached: {why}")
    return _Detached(data, log, job.name, why)


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
) -> Built:
    """Return what the sources compile to: from the cache, or compiled.

    ``sources`` is a path, several, or a mapping of file names to texts, headers
    among them; the suffix tells C, C++ and Cython (.pyx). A str with a newline is
    a text, of C. ``kind`` is "shared", "object" or "extension", a module for this
    Python. ``name`` is what you call the result, to explain misses. ``flags`` are
    the compiler's, after those of CPPFLAGS and CFLAGS or CXXFLAGS; LDFLAGS and
    ``libraries`` follow the sources. ``placeholders`` maps names that differ from
    run to run to names that do not: these are what is compiled and looked up.
    ``cache`` is a Cache, None for the default one, or False for none.
    ``compiler`` is a command; default CC or CXX, else gcc, cc or clang.

    However many threads and processes ask for the same at once, one compiles.
    What cannot be keyed is compiled each time, and ``refused`` says why.
    Raises CompileError, with the compiler's ``log`` and ``command``, LibraryError
    without a compiler or Cython, Error for a bad argument, and TypeError.
    """
    found = cache_of(cache)
    arguments = BuildArguments(sources, kind, name, flags, include_dirs, libraries, placeholders, compiler)
    return _built(_job(arguments, found), found)


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
) -> Key:
    """Return the key that ``build`` would look up now, for ``Cache.explain`` or ``remove``.

    Raises what ``build`` raises, and RefusedError for what cannot be keyed.
    """
    lib = _library.load_or_raise()
    found = cache_of(cache)
    job = _job(BuildArguments(sources, kind, name, flags, include_dirs, libraries, placeholders, compiler), found)
    handle = _void_p()
    status = lib.jitcache_native_key(found and found._handle, _request(lib, job).handle, _byref(handle))
    if status == _ffi.ERR_COMPILE:
        log = lib.jitcache_native_last_log().decode("utf-8", "replace")
        raise CompileError(f"{lib.jitcache_last_error().decode()}\n{log}", log, list(job.words))
    _ffi.check(lib, status)
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
