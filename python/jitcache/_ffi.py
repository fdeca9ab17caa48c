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


def _functions() -> list[tuple[str, object, list[object]]]:
    """Return name, result and arguments of each function, except those below. ``byref`` passes out-parameters."""
    return [
        ("jitcache_status_name", c_char_p, [c_int32]),
        ("jitcache_reason_name", c_char_p, [c_int32]),
        ("jitcache_last_miss", c_int32, []),
        ("jitcache_last_error", c_char_p, []),
        ("jitcache_abi_version", c_uint32, []),
        ("jitcache_version", c_char_p, []),
        ("jitcache_options_new", c_int32, [c_void_p]),
        ("jitcache_options_set", c_int32, [c_void_p, c_char_p, c_char_p]),
        ("jitcache_options_free", None, [c_void_p]),
        ("jitcache_open", c_int32, [c_void_p, c_void_p]),
        ("jitcache_close", c_int32, [c_void_p]),
        ("jitcache_key_new", c_int32, [c_void_p]),
        ("jitcache_key_add", c_int32, [c_void_p, c_char_p, c_char_p, c_size_t]),
        ("jitcache_key_add_file", c_int32, [c_void_p, c_char_p, c_char_p]),
        ("jitcache_key_add_tool", c_int32, [c_void_p, c_char_p, c_char_p]),
        ("jitcache_key_add_packed", c_int32, [c_void_p, c_char_p, c_size_t]),
        ("jitcache_key_from_digest", c_int32, [c_char_p, c_void_p]),
        ("jitcache_key_save", c_int32, [c_void_p, c_void_p, c_size_t, c_void_p]),
        ("jitcache_key_load", c_int32, [c_char_p, c_size_t, c_void_p]),
        ("jitcache_blob_data", c_void_p, [c_void_p]),
        ("jitcache_blob_size", c_size_t, [c_void_p]),
        ("jitcache_blob_attributes", c_char_p, [c_void_p]),
        ("jitcache_blob_kind", c_char_p, [c_void_p]),
        ("jitcache_blob_name", c_char_p, [c_void_p]),
        ("jitcache_blob_path", c_int32, [c_void_p, c_void_p]),
        ("jitcache_blob_retain", None, [c_void_p]),
        ("jitcache_put", c_int32, [c_void_p, c_void_p, c_char_p, c_size_t, c_char_p, c_uint32]),
        ("jitcache_acquire", c_int32, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p]),
        ("jitcache_commit", c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_void_p]),
        ("jitcache_lease_free", None, [c_void_p]),
        ("jitcache_remove", c_int32, [c_void_p, c_void_p]),
        ("jitcache_trim", c_int32, [c_void_p]),
        ("jitcache_clear", c_int32, [c_void_p, c_char_p]),
        ("jitcache_verify", c_int32, [c_void_p, c_void_p]),
        ("jitcache_count", c_int32, [c_void_p, c_void_p]),
        ("jitcache_cursor_new", c_int32, [c_void_p, c_char_p, c_void_p]),
        ("jitcache_cursor_next", c_int32, [c_void_p, c_void_p]),
        ("jitcache_cursor_free", None, [c_void_p]),
        ("jitcache_stats", c_int32, [c_void_p, c_void_p]),
        ("jitcache_explain", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_flush", c_int32, [c_void_p]),
        ("jitcache_epoch", c_void_p, [c_void_p]),
        ("jitcache_used", c_int32, [c_void_p, c_void_p, c_uint64]),
        ("jitcache_set_log", c_int32, [log_fn(), c_void_p]),
        ("jitcache_cuda_request_new", c_int32, [c_char_p, c_size_t, c_char_p, c_void_p]),
        ("jitcache_cuda_request_packed", c_int32, [c_void_p, c_char_p, c_size_t]),
        ("jitcache_cuda_request_free", None, [c_void_p]),
        ("jitcache_cuda_run", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_cuda_key", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_cuda_last_log", c_char_p, []),
        ("jitcache_cuda_load", c_int32, [c_void_p, c_void_p, c_int64, c_void_p]),
        ("jitcache_cuda_load_blob", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_cuda_function", c_int32, [c_void_p, c_char_p, c_void_p]),
        ("jitcache_cuda_module_handle", c_void_p, [c_void_p]),
        ("jitcache_cuda_module_free", None, [c_void_p]),
        ("jitcache_native_request_new", c_int32, [c_void_p]),
        ("jitcache_native_request_add", c_int32, [c_void_p, c_int32, c_char_p, c_size_t]),
        ("jitcache_native_request_free", None, [c_void_p]),
        ("jitcache_native_key", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_native_record_key", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_native_process_key", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_native_build", c_int32, [c_void_p, c_void_p, c_int64, c_int64, c_void_p]),
        ("jitcache_native_start", c_int32, [c_void_p, c_void_p, c_int64, c_int64, c_void_p]),
        ("jitcache_native_step", c_int32, [c_void_p, c_void_p, c_void_p]),
        ("jitcache_native_job_free", None, [c_void_p]),
        ("jitcache_native_last_log", c_char_p, []),
    ]


# The functions of a lookup are declared without argument types: with them ctypes
# would check arguments that are ctypes objects already, and a call would take 285 in
# place of 191 ns.
_LOOKUPS = ("jitcache_get_data", "jitcache_get_into", "jitcache_cuda_lookup", "jitcache_native_lookup")

# These functions only count down and free memory, so the interpreter's lock is not
# released around them.
_FREES = ("jitcache_blob_release", "jitcache_key_free")


class Library:
    """The functions of a loaded library, each an attribute by its full name.

    Raises AttributeError if a function is missing. It is not the ``CDLL`` itself,
    because the ``__getattr__`` of a CDLL makes reading an attribute cost as much as a
    call (300 ns).
    """

    #: Makes a Blob at an address; ``_library`` sets it.
    blob_at: Callable[[int], Any]

    def __init__(self, lib: ctypes.CDLL) -> None:
        for name, restype, argtypes in _functions():
            f = getattr(lib, name)
            f.restype = restype
            f.argtypes = argtypes
            setattr(self, name, f)
        for name in _LOOKUPS:
            f = getattr(lib, name)
            f.restype = c_int32
            setattr(self, name, f)
        with_lock = ctypes.PyDLL(lib._name, handle=lib._handle)
        for name in _FREES:
            f = getattr(with_lock, name)
            f.restype = None
            f.argtypes = [c_void_p]
            setattr(self, name, f)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


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
