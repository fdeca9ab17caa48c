"""Detached entries: results that are in no cache, because they could not be stored."""

from __future__ import annotations

import os

from ._blob import aligned
from ._entry import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ALIGN = 64


def _written(data: memoryview) -> str:
    """Write a new file; return its path. Raises OSError if it cannot be written whole, and removes it then."""
    import tempfile

    fd, path = tempfile.mkstemp(prefix="jitcache-", suffix=".so")
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(data)
            os.fchmod(f.fileno(), 0o700)
    except BaseException:
        _unlink(path)
        raise
    return path


def _unlink(path: str) -> None:
    try:  # noqa: SIM105  contextlib would have to be imported
        os.unlink(path)
    except OSError:  # somebody else has removed it, or its folder
        pass


class DetachedEntry(Entry):
    """An Entry whose bytes are in this process's memory. It does not need the library."""

    __slots__ = ("_address", "_attributes", "_file", "_kind", "_name", "_view")

    def __init__(self, data: bytes, attributes: Mapping[str, Any] | None, kind: str, name: str) -> None:
        self._blob = None
        self._file: tuple[str, int] | None = None  # its path, and the process that made it
        self._view: memoryview | None = None
        self._attributes = dict(attributes or {})
        self._kind = kind
        self._name = name
        # As in the library's memory: aligned, and followed by a NUL.
        self._address, place = aligned(len(data) + 1, _ALIGN)
        place[: len(data)] = data
        self._view = place[: len(data)].toreadonly()

    @property
    def view(self) -> memoryview:
        """The payload, read-only."""
        if self._view is None:
            raise ValueError("the entry is closed")
        return self._view

    @property
    def address(self) -> int:
        """The address of the payload in memory: aligned to 64 bytes, followed by a NUL."""
        return self._address if self.view is not None else 0

    @property
    def size(self) -> int:
        """The number of bytes of the payload."""
        return len(self.view)

    @property
    def path(self) -> str:
        """The path of a file with a copy of the payload. The file exists until ``close``; a forked child makes its own.

        Raises Error if the file cannot be written.
        """
        view = self.view
        if self._file is None or self._file[1] != os.getpid():
            try:
                self._file = _written(view), os.getpid()
            except OSError as e:
                from ._errors import Error

                raise Error(f"entry path: {e}") from e
        return self._file[0]

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that were given with the payload, {} if there are none."""
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
        file, self._file = self._file, None
        if file is not None and file[1] == os.getpid():
            _unlink(file[0])

    def __repr__(self) -> str:
        return "<jitcache.Entry, closed>" if self._view is None else f"<jitcache.Entry {self._kind} {self.size} bytes>"

    def __del__(self) -> None:
        self.close()
