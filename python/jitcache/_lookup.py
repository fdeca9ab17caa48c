"""Lookups through ctypes, as fast as possible.

The arguments of a call are ctypes objects that exist already, which saves a third
of a call. A call takes a set of them from a list of spares. One set for each thread
would not do: between the call and the reading of its results a signal handler or a
destructor may run in the same thread, and look something up itself.
"""

from __future__ import annotations

import ctypes

from . import _ffi
from ._blob import Blob, aligned, take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    # The out-parameters of one call: handle, address, size, and the key of a missing
    # entry; then a reference to each.
    _Outs = tuple[Any, Any, Any, Any, Any, Any, Any, Any]

_OK = _ffi.OK

# The size of the buffer that a payload is read into first. A payload that fits costs
# one call and one copy; a larger one is read again, into an object of its size.
_SCRATCH = 256 << 10

# Buffers start at a page: the kernel copies there faster than to an address of
# malloc's, which saves a tenth of a lookup.
_PAGE = 4096


_outs: list[_Outs] = []


def _new_outs() -> _Outs:
    handle, data, size, key = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
    return handle, data, size, key, ctypes.byref(handle), ctypes.byref(data), ctypes.byref(size), ctypes.byref(key)


class _Scratch:
    """A buffer of one call, with the call's arguments."""

    __slots__ = ("capacity", "data", "size", "size_ref", "view")

    def __init__(self) -> None:
        address, self.view = aligned(_SCRATCH, _PAGE)
        self.data = _ffi.as_argument(ctypes.c_void_p(address))
        self.capacity: Any = ctypes.c_size_t.from_param(_SCRATCH)
        self.size = ctypes.c_size_t()
        self.size_ref = ctypes.byref(self.size)


_scratches: list[_Scratch] = []


def find(
    lookup: Callable[..., int], lib: _ffi.Library, cache: ctypes.c_void_p, wanted: ctypes.c_void_p
) -> tuple[int, Blob | None]:
    """Look an entry up; return the status, and the entry if the status is OK.

    ``lookup`` is the library's function for what is wanted: ``jitcache_get_data`` for a
    key, ``jitcache_native_lookup`` for a native request.
    """
    try:
        outs = _outs.pop()
    except IndexError:
        outs = _new_outs()
    handle, data, size, _, handle_ref, data_ref, size_ref, _ = outs
    status = lookup(cache, wanted, handle_ref, data_ref, size_ref)
    blob = None if status else take(lib, handle.value or 0, data.value or 0, size.value)
    _outs.append(outs)
    return status, blob


class _Buffer:
    """Memory that one lookup after the other fills and returns a view of, with the call's arguments.

    It is used again when nobody holds a view of it. A bytearray tells: it refuses to
    grow or shrink while there is a view, a slice of one, or an object made of either.
    Reading into memory that was just used, at the start of a page, costs a fifteenth
    less than reading into new memory of the library.
    """

    __slots__ = ("array", "capacity", "data", "passed_by", "size", "size_ref", "start")

    def __init__(self) -> None:
        self.array = bytearray(_SCRATCH + _PAGE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.array))
        self.start = -address % _PAGE
        self.data = _ffi.as_argument(ctypes.c_void_p(address + self.start))
        self.capacity: Any = ctypes.c_size_t.from_param(_SCRATCH)
        self.size = ctypes.c_size_t()
        self.size_ref = ctypes.byref(self.size)
        self.passed_by = False  # whether the last payload was too large, as the next one may be


_buffers: list[_Buffer] = []


def find_view(lib: _ffi.Library, cache: ctypes.c_void_p, key: ctypes.c_void_p) -> memoryview | int:
    """Look an entry up; return a view of its bytes, or the status if it is not OK.

    For caches that keep nothing in memory: only the caller holds the bytes.
    """
    try:
        buffer = _buffers.pop()
    except IndexError:
        buffer = _Buffer()
    array, start = buffer.array, buffer.start
    try:
        array.append(array.pop())
    except BufferError:
        return _find_view_elsewhere(lib, cache, key, buffer)
    if buffer.passed_by:
        return _find_view_elsewhere(lib, cache, key, buffer)
    status: int = lib.jitcache_get_into(cache, key, buffer.data, buffer.capacity, buffer.size_ref)
    if status:  # _OK is 0
        if status == _ffi.TOO_SMALL:
            return _find_view_elsewhere(lib, cache, key, buffer)
        _buffers.append(buffer)
        return status
    view = memoryview(array)[start : start + buffer.size.value].toreadonly()
    _buffers.append(buffer)
    return view


def _find_view_elsewhere(
    lib: _ffi.Library, cache: ctypes.c_void_p, key: ctypes.c_void_p, buffer: _Buffer
) -> memoryview | int:
    status, blob = find(lib.jitcache_get_data, lib, cache, key)
    buffer.passed_by = blob is not None and blob.size > _SCRATCH
    _buffers.append(buffer)
    return status if blob is None else blob.view()


def find_code(
    lookup: Callable[..., int], lib: _ffi.Library, cache: ctypes.c_void_p, request: ctypes.c_void_p
) -> tuple[int, Blob | None, int]:
    """Look up the result of a request; return the status, the entry, and the key's handle if the status is MISS.

    ``lookup`` is the library's function for such requests.
    """
    try:
        outs = _outs.pop()
    except IndexError:
        outs = _new_outs()
    handle, data, size, key, handle_ref, data_ref, size_ref, key_ref = outs
    status = lookup(cache, request, handle_ref, data_ref, size_ref, key_ref)
    if status:
        found: tuple[int, Blob | None, int] = status, None, key.value or 0
    else:
        found = _OK, take(lib, handle.value or 0, data.value or 0, size.value), 0
    _outs.append(outs)
    return found


def read(lib: _ffi.Library, cache: ctypes.c_void_p, key: ctypes.c_void_p) -> bytes | int:
    """Look an entry up; return a copy of its bytes, or the status if it is not OK."""
    try:
        s = _scratches.pop()
    except IndexError:
        s = _Scratch()
    status: int = lib.jitcache_get_into(cache, key, s.data, s.capacity, s.size_ref)
    if status == _OK:
        data = s.view[: s.size.value].tobytes()
        _scratches.append(s)
        return data
    size = s.size.value
    _scratches.append(s)
    found = None
    while status == _ffi.TOO_SMALL:
        status, size, found = _read_large(lib, cache, key, size)
    return status if found is None else found


_bytes_functions: tuple[Any, Any] | None = None


def _find_bytes_functions() -> tuple[Any, Any]:
    """Return a function that makes an unfilled bytes object, and one that returns its address.

    The C API allows to fill such an object as long as nobody else has it.
    """
    global _bytes_functions
    # By subscription, which makes new function objects: those that are attributes of
    # pythonapi are shared, with their argument types, by all modules.
    new_bytes, data_of = ctypes.pythonapi["PyBytes_FromStringAndSize"], ctypes.pythonapi["PyBytes_AsString"]
    new_bytes.restype, new_bytes.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_ssize_t]
    data_of.restype, data_of.argtypes = ctypes.c_void_p, [ctypes.py_object]
    _bytes_functions = new_bytes, data_of
    return _bytes_functions


def _read_large(
    lib: _ffi.Library, cache: ctypes.c_void_p, key: ctypes.c_void_p, size: int
) -> tuple[int, int, bytes | None]:
    new_bytes, data_of = _bytes_functions or _find_bytes_functions()
    try:
        data: bytes = new_bytes(None, size)
    except MemoryError:
        # The library then has no memory either, and counts a miss with that reason.
        return find(lib.jitcache_get_data, lib, cache, key)[0] or _ffi.MISS, 0, None
    now = ctypes.c_size_t()
    status = lib.jitcache_get_into(cache, key, ctypes.c_void_p(data_of(data)), ctypes.c_size_t(size), ctypes.byref(now))
    if status == _OK and now.value != size:  # a smaller payload has replaced it in between
        return status, now.value, data[: now.value]
    return status, now.value, data if status == _OK else None
