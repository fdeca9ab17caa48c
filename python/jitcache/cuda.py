"""CUDA source to machine code, through the cache.

    from jitcache import cuda

    saxpy = cuda.compile(source, options=["-std=c++17"], name_expressions=["saxpy<float>"])
    saxpy.code                                       # the cubin
    saxpy.load().function("saxpy<float>")            # a CUfunction, as an int

A compile is recorded: every file that NVRTC looks at, the names that it looks for in
vain, the environment variables that it reads, and NVRTC itself. As long as all of that
is unchanged, the code is found in the cache. A hit loads neither NVRTC nor the driver;
``load`` loads the driver. docs/cuda.md says more.
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _ffi, _library
from ._blob import Blob, blob_of
from ._default import cache_of
from ._entry import Entry
from ._errors import CompileError, Error
from ._key import Key, KeyHandle
from ._lease import wait
from ._lookup import find_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._cache import Cache

__all__ = ["Code", "Function", "Module", "compile", "key"]

_byref = ctypes.byref
_void_p = ctypes.c_void_p

Text = Union[str, bytes]


class _Request:
    """The library's request for a wish, freed with this object."""

    __slots__ = ("_free", "handle")

    def __init__(self, lib: _ffi.Library, source: bytes, name: bytes, packed: bytes) -> None:
        self.handle = _void_p()
        self._free = lib.jitcache_cuda_request_free
        _ffi.check(lib, lib.jitcache_cuda_request_new(source, len(source), name, _byref(self.handle)))
        _ffi.check(lib, lib.jitcache_cuda_request_packed(self.handle, packed, len(packed)))

    def __del__(self) -> None:
        if self.handle:
            self._free(self.handle)


# The variables that the library reads when a request is made. They are read from the
# table behind os.environ, if there is one: it takes a tenth of the time of
# os.environ.get (1 us).
_VARIABLES = ("JITCACHE_NVRTC", "JITCACHE_LIBCUDA", "CUDA_HOME", "CUDA_PATH")
_environment: Any = getattr(os.environ, "_data", None)
if not isinstance(_environment, dict):
    _environment = os.environb
_names = tuple(map(os.fsencode, _VARIABLES))


def _part(letter: bytes, text: bytes) -> bytes:
    return letter + len(text).to_bytes(8, "little") + text


def _encoded_texts(texts: tuple[Any, ...], what: str) -> list[bytes]:
    return [_ffi.as_text(t if isinstance(t, (str, bytes)) else os.fspath(t), what) for t in texts]


def _sequence(texts: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Return a sequence of texts as a tuple. Raises TypeError for a single text."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{what}: want a sequence of str, not {type(texts).__qualname__}")
    return tuple(texts)


class Wish(NamedTuple):
    """A caller's request. A plain tuple of its members serves as well, and is made in a fifth of the time."""

    source: Text
    name: str
    options: tuple[Text | os.PathLike[str], ...]
    target: str
    expressions: tuple[Text, ...]
    headers: tuple[tuple[str, Text], ...]
    nvrtc: str  # the file of NVRTC; "": the one that is found
    kind: str = ""  # the kind of the entries; "": the target's

    def pack(self) -> bytes:
        """Return everything but source and name in the form that the library takes."""
        kind = _ffi.as_text(self.target, "target")
        if kind not in (b"cubin", b"ptx", b"ltoir"):
            raise Error(f"target: want cubin, ptx or ltoir, not {self.target!r}", _ffi.ERR_ARGUMENT)
        parts = [_part(b"T", kind)]
        parts += [_part(b"o", o) for o in _encoded_texts(self.options, "options")]
        parts += [_part(b"e", e) for e in _encoded_texts(self.expressions, "name_expressions")]
        for name, text in self.headers:
            parts += [_part(b"h", _ffi.as_text(name, "headers")), _part(b"t", _ffi.as_text(text, "headers"))]
        if self.nvrtc:
            parts.append(_part(b"n", os.fsencode(self.nvrtc)))
        if self.kind:
            parts.append(_part(b"k", self.kind.encode()))
        # The folders where NVIDIA's wheels may be installed.
        parts += [_part(b"p", os.fsencode(p)) for p in sys.path if os.path.isabs(p)]
        return b"".join(parts)


class _Made:
    """The requests that were made under one environment and search path: the library hashes each once."""

    __slots__ = ("path", "requests", "variables")

    def __init__(self, variables: tuple[Any, ...], path: list[str]) -> None:
        self.variables = variables
        self.path = path
        self.requests: dict[Any, _Request] = {}


_made = _Made((), [])
_MOST = 256


def _request(lib: _ffi.Library, wish: Wish | tuple[Any, ...]) -> _Request:
    global _made
    made, variables = _made, tuple(map(_environment.get, _names))
    if made.variables != variables or made.path != sys.path:
        made = _made = _Made(variables, sys.path[:])
    request = made.requests.get(wish)
    if request is None:
        w = Wish(*wish)
        source, name = _ffi.as_text(w.source, "source"), _ffi.as_text(w.name, "name")
        request = _Request(lib, source, name, w.pack())
        if len(made.requests) >= _MOST:
            made.requests.clear()
        made.requests[wish] = request
    return request


class Code:
    """What was compiled. Any thread may use it.

    ``hit``: whether it was in the cache. ``refused``: why it is not kept; "" if it is
    kept, or if there is no cache.
    """

    __slots__ = ("__weakref__", "_about", "_blob", "_cache", "_request", "hit", "refused")

    def __init__(self, blob: Blob, hit: bool, refused: str, request: _Request, cache: Cache | None) -> None:
        self._blob = blob
        self._request = request
        self._cache = cache
        self._about: dict[str, Any] | None = None
        self.hit = hit
        self.refused = refused

    @property
    def code(self) -> bytes:
        """The code: an ELF file of machine code, PTX as text, or LTO-IR."""
        return self._blob.view().tobytes()

    @property
    def view(self) -> memoryview:
        """The code, without a copy."""
        return self._blob.view()

    def _attribute(self, name: str, default: Any) -> Any:
        if self._about is None:
            self._about = Entry(self._blob).attributes
        return self._about.get(name, default)

    @property
    def lowered_names(self) -> dict[str, str]:
        """The name in the code, by name expression."""
        return dict(self._attribute("lowered", {}))

    @property
    def log(self) -> str:
        """What NVRTC printed when it compiled the code: warnings, "" for none."""
        return str(self._attribute("log", ""))

    @property
    def target(self) -> str:
        """The form of the code: "cubin", "ptx" or "ltoir"."""
        return str(self._attribute("target", ""))

    @property
    def arch(self) -> str:
        """The architecture that the code was compiled for, such as "sm_90"."""
        return str(self._attribute("arch", ""))

    @property
    def nvrtc(self) -> str:
        """The version of the NVRTC that compiled the code, such as "13.5"."""
        return str(self._attribute("nvrtc", ""))

    def load(self) -> Module:
        """Load the code into this thread's current context.

        The same code is loaded once per context. Code that the driver refuses is
        removed from the cache and compiled again, once.
        Raises DriverError, with the name and text of the driver's error; LibraryError if
        there is no driver.
        """
        lib, handle = self._blob.lib, _void_p()
        status = lib.jitcache_cuda_load_blob(self._request.handle, self._blob.handle, _byref(handle))
        if status == _ffi.ERR_DRIVER and self._cache is not None and self._cache._handle is not None:
            arguments = (self._cache._handle, self._request.handle, -1, _byref(handle))
            status = self._cache._changing(lib.jitcache_cuda_load, *arguments)  # it may replace the entry
        _check_status(lib, status)
        return Module(lib, handle)

    def __bytes__(self) -> bytes:
        return self.code

    def __len__(self) -> int:
        return self._blob.size

    def __repr__(self) -> str:
        return f"<jitcache.cuda.Code {self.target} for {self.arch}, {len(self)} bytes{', hit' if self.hit else ''}>"


class Module:
    """Code in a context. ``int(module)`` is the CUmodule.

    It is unloaded when neither it nor a Function of it is referenced any more.
    """

    __slots__ = ("__weakref__", "_finalizer", "_handle", "_lib")

    def __init__(self, lib: _ffi.Library, handle: ctypes.c_void_p) -> None:
        self._lib = lib
        self._handle = handle
        # Not at exit: the driver may be gone by then, and has unloaded its modules.
        self._finalizer = weakref.finalize(self, lib.jitcache_cuda_module_free, handle)
        self._finalizer.atexit = False

    def function(self, name: str) -> Function:
        """Return a function by its name in the code, or by a name expression.

        Raises DriverError if there is no function of that name.
        """
        found = _void_p()
        _ffi.check(self._lib, self._lib.jitcache_cuda_function(self._handle, _ffi.as_text(name, "name"), _byref(found)))
        return Function(self, name, found.value or 0)

    def __int__(self) -> int:
        return int(self._lib.jitcache_cuda_module_handle(self._handle) or 0)

    def __repr__(self) -> str:
        return f"<jitcache.cuda.Module {int(self):#x}>"


class Function:
    """A function of a module, which it keeps loaded. ``int(function)`` is the CUfunction."""

    __slots__ = ("_handle", "module", "name")

    def __init__(self, module: Module, name: str, handle: int) -> None:
        self.module = module
        self.name = name
        self._handle = handle

    def __int__(self) -> int:
        return self._handle

    def __repr__(self) -> str:
        return f"<jitcache.cuda.Function {self.name}>"


def _check_status(lib: _ffi.Library, status: int) -> int:
    if status == _ffi.ERR_COMPILE:
        log = lib.jitcache_cuda_last_log().decode("utf-8", "replace")
        text = lib.jitcache_last_error().decode("utf-8", "replace")
        raise CompileError(f"{text}\n{log}" if log else text, log)
    return _ffi.check(lib, status)


def _run(lib: _ffi.Library, request: _Request, lease: ctypes.c_void_p | None) -> tuple[Blob, str]:
    """Compile; return the code, and why it is not kept, "" if it is."""
    blob = _void_p()
    status = _check_status(lib, lib.jitcache_cuda_run(request.handle, lease, _byref(blob)))
    why = lib.jitcache_last_error().decode("utf-8", "replace") if status == _ffi.NOT_STORED else ""
    return blob_of(lib, blob), why


def compile(  # noqa: A001  as re.compile
    source: Text,
    *,
    name: str = "kernel.cu",
    options: Sequence[Text | os.PathLike[str]] = (),
    target: str = "cubin",
    name_expressions: Sequence[Text] = (),
    headers: Mapping[str, Text] | None = None,
    cache: Cache | bool | None = None,
) -> Code:
    """Return the code of a source, from the cache or compiled by NVRTC.

    ``name`` is what the compiler calls the source; if it has a folder, quoted
    includes are looked for there. ``options`` are NVRTC's; without an architecture
    it is that of the current device. ``target`` is "cubin", "ptx" or "ltoir".
    ``name_expressions`` are templates to instantiate, ``headers`` texts that
    ``#include`` finds by name. ``cache`` is a Cache, None for the default one, or
    False for none.

    However many threads and processes ask for the same at once, one compiles, in a
    process of its own, and what it looks at is recorded: a later call hits if all of
    that is unchanged. Code that cannot be repeated, because it contains the time, is
    compiled each time, and ``refused`` says why.
    Raises CompileError, with NVRTC's ``log``, for a source that does not compile;
    LibraryError without NVRTC; DriverError if no architecture is given and the driver
    does not tell one; Error for a bad argument; TypeError.
    """
    wish = (
        source, name, tuple(options) if type(options) is list else _sequence(options, "options"), target,
        _sequence(name_expressions, "name_expressions") if name_expressions else (),
        tuple(headers.items()) if headers else (), "",
    )  # fmt: skip
    return code_of(wish, cache_of(cache))


def code_of(wish: Wish | tuple[Any, ...], cache: Cache | None) -> Code:
    """Return the code for a wish. Raises as ``compile``."""
    lib = _library.load_or_raise()
    request = _request(lib, wish)
    if cache is None or cache._handle is None:
        return Code(_run(lib, request, None)[0], False, "", request, cache)
    status, found, key_handle = find_code(lib.jitcache_cuda_lookup, lib, cache._handle, request.handle)
    if found is not None:
        return Code(found, True, "", request, cache)
    if status < 0:
        _ffi.check(lib, status)
    if not key_handle:  # nothing is cached
        return Code(_run(lib, request, None)[0], False, "", request, cache)
    key = KeyHandle(lib, _void_p(key_handle))
    found, lease, _ = wait(cache, lib, key.handle, None)
    if found is not None:
        return Code(found, True, "", request, cache)
    blob, why = _run(lib, request, lease)
    return Code(blob, False, why, request, cache)


def key(
    source: Text,
    *,
    name: str = "kernel.cu",
    options: Sequence[Text | os.PathLike[str]] = (),
    target: str = "cubin",
    name_expressions: Sequence[Text] = (),
    headers: Mapping[str, Text] | None = None,
    cache: Cache | bool | None = None,
) -> Key:
    """Return the key under which ``compile`` would find its code now, for ``Cache.explain`` or ``remove``.

    If no code fits the files and variables as they are now, that key is not known.
    Then the key of the request is returned, and nothing is stored under it.
    Raises what ``compile`` raises, except CompileError.
    """
    texts = _sequence(options, "options"), target, _sequence(name_expressions, "name_expressions")
    return key_of((source, name, *texts, tuple(headers.items()) if headers else (), ""), cache_of(cache))


def key_of(wish: Wish | tuple[Any, ...], cache: Cache | None) -> Key:
    """Return the key for a wish. Raises as ``key``."""
    lib = _library.load_or_raise()
    request, handle = _request(lib, wish), _void_p()
    _ffi.check(lib, lib.jitcache_cuda_key(cache and cache._handle, request.handle, _byref(handle)))
    return Key._taken(lib, handle)
