"""Entries: results in the cache, used in place."""

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
    """One entry of the cache, verified, used in place. Close it, or use it in ``with``.

    Attributes are valid until ``close``; after it they raise ValueError. A ``view``
    that was taken stays valid as long as it is referenced. Any thread may use it.
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
        """The address of the payload in memory: aligned to 64 bytes, followed by a NUL."""
        return self._open.address

    @property
    def size(self) -> int:
        """The number of bytes of the payload."""
        return self._open.size

    @property
    def path(self) -> str:
        """The path of a file with the payload, for dlopen and tools that take files.

        The file is there until ``close``, even if the entry is evicted or replaced.
        Only removing the whole directory removes it too, so read this right before
        you use it. No two entries of a process have the same path. An ELF payload may
        be followed by some hundred bytes that ELF readers ignore.
        Raises Error if no place on the machine can hold the file.
        """
        blob = self._open
        out = ctypes.c_char_p()
        _ffi.check(blob.lib, blob.lib.jitcache_blob_path(blob.handle, ctypes.byref(out)))
        return os.fsdecode(out.value or b"")

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that were stored with the entry, {} if there are none."""
        blob = self._open
        text = blob.lib.jitcache_blob_attributes(blob.handle)
        if not text:
            return {}
        import json

        try:
            found = json.loads(text)
        except ValueError:  # the entry is intact, but another program wrote it
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def kind(self) -> str:
        """The kind of the entry."""
        return self._open.kind()

    @property
    def name(self) -> str:
        """The name of the key that the entry was stored with, "" if it had none."""
        blob = self._open
        return str(blob.lib.jitcache_blob_name(blob.handle).decode("utf-8", "surrogateescape"))

    def close(self) -> None:
        """Give the entry up; its path is not valid any more. May be called more than once."""
        self._blob = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        """Return True, also for an entry of no bytes."""
        return True

    def __bytes__(self) -> bytes:
        return bytes(self.view)

    def __repr__(self) -> str:
        if self._blob is None:
            return "<jitcache.Entry, closed>"
        return f"<jitcache.Entry {self.kind} {self.size} bytes>"
