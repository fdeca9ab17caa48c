"""Listing: the entries of a cache, read one at a time."""

from __future__ import annotations

import ctypes
import json

from . import _ffi
from ._blob import blob_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Callable


def listed(
    lib: _ffi.Library | None, cache: ctypes.c_void_p | None, usable: Callable[[int], bool], kind: str | None
) -> Iterator[dict[str, Any]]:
    """Iterate over the entries, as ``Cache.entries`` says. Each is read when it is asked for."""
    if lib is None or cache is None:
        return
    cursor, handle = ctypes.c_void_p(), ctypes.c_void_p()
    name = None if kind is None else _ffi.as_text(kind, "kind")
    if not usable(lib.jitcache_cursor_new(cache, name, ctypes.byref(cursor))):
        return
    try:
        while True:
            status = lib.jitcache_cursor_next(cursor, ctypes.byref(handle))
            if status == _ffi.BUSY:  # no entry yet: back in Python, signal handlers run
                continue
            if status == _ffi.MISS or status in _ffi.NO_CACHE:
                return
            _ffi.check(lib, status)
            yield json.loads(bytes(blob_of(lib, handle).view()))
    finally:
        lib.jitcache_cursor_free(cursor)
