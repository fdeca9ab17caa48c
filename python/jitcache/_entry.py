"""Entries: bytes of the cache, used where they are."""

from __future__ import annotations

import ctypes
import os

from . import _ffi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from typing_extensions import Self

    from ._blob import Blob


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

        It opens until ``close``, whatever becomes of the entry in the cache. Only
        the removal of the whole directory removes it too, so ask for it where it is
        used. A process never gets the same path twice. An ELF payload may be
        followed by some hundred bytes that ELF readers ignore.
        Raises Error if no place on the machine can hold it.
        """
        blob = self._open
        out = ctypes.c_char_p()
        _ffi.check(blob.lib, blob.lib.jitcache_blob_path(blob.handle, ctypes.byref(out)))
        return os.fsdecode(out.value or b"")

    @property
    def attributes(self) -> dict[str, Any]:
        """What was stored with the entry, {} if nothing was."""
        blob = self._open
        text = blob.lib.jitcache_blob_attributes(blob.handle)
        if not text:
            return {}
        import json

        try:
            found = json.loads(text)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        """An entry of no bytes is an entry: what is missing is None."""
        return True

    def __bytes__(self) -> bytes:
        return bytes(self.view)

    def __repr__(self) -> str:
        if self._blob is None:
            return "<jitcache.Entry, closed>"
        return f"<jitcache.Entry {self.kind} {self.size} bytes>"
