"""Blobs: bytes in the library's memory, used in place."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from . import _ffi


def aligned(size: int, to: int) -> tuple[int, memoryview]:
    """Return address and view of new zeroed memory; the address is a multiple of ``to``."""
    array = (ctypes.c_ubyte * (size + to))()
    start = -ctypes.addressof(array) % to
    return ctypes.addressof(array) + start, memoryview(array).cast("B")[start : start + size]


class Blob:
    """A reference to a blob of the library, released with this object.

    The object is at the same time a ctypes array over the memory: a second object for
    that would make a lookup a tenth slower.
    """

    __slots__ = ()

    lib: _ffi.Library
    release: Callable[[int], None]  # a function of the library, not a method
    size: int
    handle: int

    @property
    def address(self) -> int:
        """The address of the bytes."""
        return ctypes.addressof(self)  # type: ignore[arg-type]

    def view(self) -> memoryview:
        """Return a view of the bytes. The view and its slices keep the blob alive."""
        return memoryview(self).cast("B")[: self.size].toreadonly()  # type: ignore[arg-type]

    def kind(self) -> str:
        """Return the kind of the entry."""
        return str(self.lib.jitcache_blob_kind(self.handle).decode())

    def __reduce__(self) -> tuple[Any, ...]:
        """Raise TypeError, also for an Entry. A ctypes array would copy all that its type has room for."""
        raise TypeError("an entry cannot be pickled: pickle its bytes")

    def __del__(self) -> None:
        self.release(self.handle)


# A ctypes array has its length in its type, and making a type costs ten lookups. So
# there is one type, longer than any payload; views end where the payload ends.
_LONGEST = 1 << 46


def constructor(lib: _ffi.Library) -> Callable[[int], Blob]:
    """Return a function that makes a Blob at an address. Its caller sets ``handle`` and ``size``."""
    members = {"__slots__": ("handle", "size"), "lib": lib, "release": lib.jitcache_blob_release}
    blob: Any = type("Blob", (Blob, ctypes.c_ubyte * _LONGEST), members)
    made: Callable[[int], Blob] = blob.from_address
    return made


def take(lib: _ffi.Library, handle: int, address: int, size: int) -> Blob:
    """Return the Blob of a handle whose address and size are known; the Blob owns the handle."""
    blob: Any = lib.blob_at(address)
    blob.handle = handle
    blob.size = size
    return blob  # type: ignore[no-any-return]


def blob_of(lib: _ffi.Library, handle: ctypes.c_void_p) -> Blob:
    """Return the Blob of a handle; the Blob owns the handle."""
    return take(lib, handle.value or 0, lib.jitcache_blob_data(handle) or 0, lib.jitcache_blob_size(handle))
