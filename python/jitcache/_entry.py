"""Entries: bytes of the cache, used where they are."""

from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Callable

from ._key import check

if TYPE_CHECKING:
    from types import TracebackType

    from . import _ffi


def aligned(size: int, to: int) -> tuple[int, memoryview]:
    """Return address and view of new memory that is zero, and starts at a multiple of ``to``."""
    array = (ctypes.c_ubyte * (size + to))()
    start = -ctypes.addressof(array) % to
    return ctypes.addressof(array) + start, memoryview(array).cast("B")[start : start + size]


class Blob:
    """A reference to a blob of the library, dropped with this object.

    It is also what exposes the memory, a ctypes array in place: another object
    for that would cost a lookup a tenth more.
    """

    __slots__ = ()

    lib: _ffi.Library
    release: Callable[[int], None]  # the library's, so no method
    size: int
    handle: int

    @property
    def address(self) -> int:
        """Where the bytes are."""
        return ctypes.addressof(self)  # type: ignore[arg-type]

    def view(self) -> memoryview:
        """Return the bytes in place. The view, and slices of it, keep the blob."""
        return memoryview(self).cast("B")[: self.size].toreadonly()  # type: ignore[arg-type]

    def kind(self) -> str:
        """Return the kind of the entry."""
        return str(self.lib.jitcache_blob_kind(self.handle).decode())

    def __del__(self) -> None:
        self.release(self.handle)


# A ctypes array has its length in its type, and a new type costs ten lookups.
# So there is one for each power of two; views end where the payload does.
_types: dict[int, Any] = {}


def _type_for(lib: _ffi.Library, bits: int) -> Any:
    members = {"__slots__": ("size", "handle"), "lib": lib, "release": lib.jitcache_blob_release}
    return _types.setdefault(bits, type("Blob", (Blob, ctypes.c_ubyte * (1 << bits)), members))


def take(lib: _ffi.Library, handle: int, address: int, size: int) -> Blob:
    """Take over a handle whose bytes are known."""
    bits = size.bit_length()
    blob: Any = (_types.get(bits) or _type_for(lib, bits)).from_address(address)
    blob.size = size
    blob.handle = handle
    return blob  # type: ignore[no-any-return]


def blob_of(lib: _ffi.Library, handle: ctypes.c_void_p) -> Blob:
    """Take over a handle of which only the handle is known."""
    return take(lib, handle.value or 0, lib.jitcache_blob_data(handle) or 0, lib.jitcache_blob_size(handle))


class Entry:
    """One entry of the cache, verified, in place. Close it, or use it in ``with``.

    Every attribute is valid until ``close``; a ``view`` that was taken stays
    valid for as long as it is referenced.
    """

    __slots__ = ("_blob",)

    def __init__(self, blob: Blob) -> None:
        self._blob: Blob | None = blob

    @property
    def _open(self) -> Blob:
        if self._blob is None:
            raise ValueError("the entry is closed")
        return self._blob

    @property
    def view(self) -> memoryview:
        """The payload, read-only, without a copy."""
        return self._open.view()

    @property
    def address(self) -> int:
        """Where the payload is in memory: aligned to 64 bytes, followed by a NUL."""
        return self._open.address

    @property
    def size(self) -> int:
        """The number of bytes of the payload."""
        return self._open.size

    @property
    def path(self) -> str:
        """A path to the payload, for dlopen and tools that take files.

        It opens until ``close``, whatever becomes of the entry in the cache; only
        the removal of the whole directory takes it along, so ask for it where it is
        used. The same text is never given twice in a process. An ELF payload may be
        followed by some hundred bytes that ELF readers ignore.
        Raises Error if no place on the machine can hold it.
        """
        blob = self._open
        out = ctypes.c_char_p()
        check(blob.lib, blob.lib.jitcache_blob_path(blob.handle, ctypes.byref(out)))
        return os.fsdecode(out.value or b"")

    @property
    def attributes(self) -> dict[str, Any]:
        """What was stored with the entry, {} if nothing was."""
        blob = self._open
        text = blob.lib.jitcache_blob_attributes(blob.handle)
        try:
            found = json.loads(text) if text else {}
        except ValueError:  # an intact entry of another writer
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def kind(self) -> str:
        """The kind of the entry."""
        return self._open.kind()

    @property
    def name(self) -> str:
        """The name that the entry was stored under, "" if it had none."""
        blob = self._open
        return str(blob.lib.jitcache_blob_name(blob.handle).decode("utf-8", "surrogateescape"))

    def close(self) -> None:
        """Give the entry up. May be called more than once."""
        self._blob = None

    def __enter__(self) -> Entry:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        return self.size

    def __bytes__(self) -> bytes:
        return bytes(self.view)

    def __repr__(self) -> str:
        if self._blob is None:
            return "<jitcache.Entry, closed>"
        return f"<jitcache.Entry {self.kind} {self.size} bytes>"
