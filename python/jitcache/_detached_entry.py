"""Entries that are in no cache: results that could not be kept."""

from __future__ import annotations

import os

from ._blob import aligned
from ._entry import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ALIGN = 64


class DetachedEntry(Entry):
    """An Entry over bytes of this process, for use without the library."""

    __slots__ = ("_address", "_attributes", "_kind", "_name", "_path", "_view")

    def __init__(self, data: bytes, attributes: Mapping[str, Any] | None, kind: str, name: str) -> None:
        self._blob = None
        self._attributes = dict(attributes or {})
        self._kind = kind
        self._name = name
        self._path = ""
        # As the library would have it: aligned, and followed by a NUL.
        self._address, place = aligned(len(data) + 1, _ALIGN)
        place[: len(data)] = data
        self._view: memoryview | None = place[: len(data)].toreadonly()

    @property
    def view(self) -> memoryview:
        """The payload, read-only."""
        if self._view is None:
            raise ValueError("the entry is closed")
        return self._view

    @property
    def address(self) -> int:
        """Where the payload is in memory: aligned to 64 bytes, followed by a NUL."""
        return self._address if self.view is not None else 0

    @property
    def size(self) -> int:
        """The number of bytes of the payload."""
        return len(self.view)

    @property
    def path(self) -> str:
        """A path to a copy of the payload, which exists until ``close``."""
        view = self.view
        if not self._path:
            import tempfile

            fd, self._path = tempfile.mkstemp(prefix="jitcache-", suffix=".so")
            with os.fdopen(fd, "wb") as f:
                f.write(view)
                os.fchmod(f.fileno(), 0o700)
        return self._path

    @property
    def attributes(self) -> dict[str, Any]:
        """What was given with the payload, {} if nothing was."""
        return dict(self._attributes) if self.view is not None else {}

    @property
    def kind(self) -> str:
        """The kind of the entry."""
        return self._kind if self.view is not None else ""

    @property
    def name(self) -> str:
        """The name of its key, "" if it had none."""
        return self._name if self.view is not None else ""

    def close(self) -> None:
        """Give the entry up. May be called more than once."""
        self._view = None
        path, self._path = self._path, ""
        if path:
            os.unlink(path)

    def __repr__(self) -> str:
        return "<jitcache.Entry, closed>" if self._view is None else f"<jitcache.Entry {self._kind} {self.size} bytes>"

    def __del__(self) -> None:
        self.close()
