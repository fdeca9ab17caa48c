"""Foreign functions: those of jitcache.h, jitcache_cuda.h and jitcache_native.h, declared for ctypes.

Each function has a line, in the order of the headers. Handles are words and are
passed as ``c_void_p``; functions that return a status return ``int``.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

ABI_VERSION = 1

# Statuses.
OK = 0
MISS = 1
LEASE = 2
BUSY = 3
TIMEOUT = 4
NOT_STORED = 5
TOO_SMALL = 6
ERR_ARGUMENT = -1
ERR_HANDLE = -2
ERR_FORK = -11
ERR_INTERNAL = -12
ERR_COMPILE = -20
ERR_REFUSED = -21
ERR_LIBRARY = -22
ERR_DRIVER = -23

# The statuses that mean that this process has no cache for now. Every lookup then
# misses, as in a process without the library.
NO_CACHE = (ERR_FORK, ERR_INTERNAL)

REPLACE = 1

# The reason of a result that is returned and not stored because it cannot be repeated (jitcache.h).
UNREPEATABLE = 24


def log_fn() -> Any:
    """Return the ctypes type of the callback that takes a line of the log."""
    return ctypes.CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


# Argument types and result of each function. ``byref`` passes out-parameters.
_FUNCTIONS = {
    "jitcache_status_name": "int32 -> text",
    "jitcache_reason_name": "int32 -> text",
    "jitcache_last_miss": "-> int32",
    "jitcache_last_error": "-> text",
    "jitcache_abi_version": "-> uint32",
    "jitcache_version": "-> text",
    "jitcache_options_new": "pointer -> int32",
    "jitcache_options_set": "pointer text text -> int32",
    "jitcache_options_free": "pointer -> none",
    "jitcache_open": "pointer pointer -> int32",
    "jitcache_close": "pointer -> int32",
    "jitcache_key_new": "pointer -> int32",
    "jitcache_key_add": "pointer text text size -> int32",
    "jitcache_key_add_file": "pointer text text -> int32",
    "jitcache_key_add_tool": "pointer text text -> int32",
    "jitcache_key_add_packed": "pointer text size -> int32",
    "jitcache_key_from_digest": "text pointer -> int32",
    "jitcache_key_save": "pointer pointer size pointer -> int32",
    "jitcache_key_load": "text size pointer -> int32",
    "jitcache_blob_data": "pointer -> pointer",
    "jitcache_blob_size": "pointer -> size",
    "jitcache_blob_attributes": "pointer -> text",
    "jitcache_blob_kind": "pointer -> text",
    "jitcache_blob_name": "pointer -> text",
    "jitcache_blob_path": "pointer pointer -> int32",
    "jitcache_blob_retain": "pointer -> none",
    "jitcache_put": "pointer pointer text size text uint32 -> int32",
    "jitcache_put_compiled": "pointer pointer text size text uint32 uint64 -> int32",
    "jitcache_acquire": "pointer pointer int64 pointer pointer -> int32",
    "jitcache_commit": "pointer text size text pointer -> int32",
    "jitcache_lease_free": "pointer -> none",
    "jitcache_remove": "pointer pointer -> int32",
    "jitcache_trim": "pointer -> int32",
    "jitcache_clear": "pointer text -> int32",
    "jitcache_verify": "pointer pointer -> int32",
    "jitcache_count": "pointer pointer -> int32",
    "jitcache_cursor_new": "pointer text pointer -> int32",
    "jitcache_cursor_next": "pointer pointer -> int32",
    "jitcache_cursor_free": "pointer -> none",
    "jitcache_stats": "pointer pointer -> int32",
    "jitcache_explain": "pointer pointer pointer -> int32",
    "jitcache_flush": "pointer -> int32",
    "jitcache_epoch": "pointer -> pointer",
    "jitcache_used": "pointer pointer uint64 -> int32",
    "jitcache_set_log": "pointer pointer -> int32",
    "jitcache_cuda_request_new": "text size text pointer -> int32",
    "jitcache_cuda_request_packed": "pointer text size -> int32",
    "jitcache_cuda_request_free": "pointer -> none",
    "jitcache_cuda_run": "pointer pointer pointer -> int32",
    "jitcache_cuda_key": "pointer pointer pointer -> int32",
    "jitcache_cuda_last_log": "-> text",
    "jitcache_cuda_load": "pointer pointer int64 pointer -> int32",
    "jitcache_cuda_load_blob": "pointer pointer pointer -> int32",
    "jitcache_cuda_function": "pointer text pointer -> int32",
    "jitcache_cuda_module_handle": "pointer -> pointer",
    "jitcache_cuda_module_free": "pointer -> none",
    "jitcache_native_request_new": "pointer -> int32",
    "jitcache_native_request_add": "pointer int32 text size -> int32",
    "jitcache_native_request_free": "pointer -> none",
    "jitcache_native_key": "pointer pointer pointer -> int32",
    "jitcache_native_record_key": "pointer pointer pointer -> int32",
    "jitcache_native_process_key": "pointer pointer pointer -> int32",
    "jitcache_native_build": "pointer pointer int64 int64 pointer -> int32",
    "jitcache_native_start": "pointer pointer int64 int64 pointer -> int32",
    "jitcache_native_step": "pointer pointer pointer -> int32",
    "jitcache_native_job_free": "pointer -> none",
    "jitcache_native_last_log": "-> text",
    # Lookups. With argument types ctypes would check arguments that are ctypes objects
    # already, and a call would take 285 in place of 191 ns.
    "jitcache_get_data": "unchecked -> int32",
    "jitcache_get_into": "unchecked -> int32",
    "jitcache_cuda_lookup": "unchecked -> int32",
    "jitcache_native_lookup": "unchecked -> int32",
}

# These functions only count down and free memory, so the interpreter's lock is not
# released around them.
_FREES = ("jitcache_blob_release", "jitcache_key_free")

_TYPES: dict[str, Any] = {
    "none": None,
    "int32": c_int32,
    "int64": c_int64,
    "uint32": c_uint32,
    "uint64": c_uint64,
    "size": c_size_t,
    "text": c_char_p,
    "pointer": c_void_p,
}


class Library:
    """The functions of a loaded library, each an attribute by its full name.

    A function is declared when it is first asked for: to declare all 70 would cost a
    process 0.4 ms before its first hit. They are all there: the caller has compared
    ``ABI_VERSION``. It is not the ``CDLL`` itself, because the ``__getattr__`` of a CDLL
    makes reading an attribute cost as much as a call (300 ns).
    """

    #: Makes a Blob at an address; ``_library`` sets it.
    blob_at: Callable[[int], Any]

    # A destructor may ask for its function when the interpreter ends and the globals are gone.
    _functions = _FUNCTIONS
    _types = _TYPES

    def __init__(self, lib: ctypes.CDLL) -> None:
        self._lib = lib
        with_lock = ctypes.PyDLL(lib._name, handle=lib._handle)
        for name in _FREES:
            f = with_lock[name]
            f.restype = None
            f.argtypes = [c_void_p]
            setattr(self, name, f)

    def __getattr__(self, name: str) -> Any:
        """Declare the function of this name, once. Raises AttributeError if there is none."""
        if name not in self._functions:
            raise AttributeError(name)
        arguments, _, result = self._functions[name].rpartition("-> ")
        f = self._lib[name]
        f.restype = self._types[result]
        if arguments != "unchecked ":
            f.argtypes = [self._types[argument] for argument in arguments.split()]
        setattr(self, name, f)
        return f


def as_argument(handle: c_void_p) -> c_void_p:
    """Return a handle as the object that ctypes passes. Making it at each call would cost a tenth of a memory hit."""
    argument: Any = c_void_p.from_param(handle.value)
    return argument  # type: ignore[no-any-return]


def as_text(text: str | bytes, what: str) -> bytes:
    """Return a text for C. Raises TypeError for another type, and Error for a NUL, where C would end the text."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    elif not isinstance(text, bytes):
        raise TypeError(f"{what}: want str, not {type(text).__qualname__}")
    if b"\0" in text:
        from ._errors import Error

        raise Error(f"{what}: has a NUL", ERR_ARGUMENT)
    return text


def check(lib: Library, status: int) -> int:
    """Return the status; raise Error if it is one of an error."""
    if status < 0:
        from ._errors import error_of

        text = lib.jitcache_last_error().decode("utf-8", "replace")
        raise error_of(text or lib.jitcache_status_name(status).decode(), status)
    return status
