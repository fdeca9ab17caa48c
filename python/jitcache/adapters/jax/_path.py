"""Paths below ``jitcache://``, which JAX reads and writes through etils like those of a folder."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

from etils import epath

from . import SCHEME
from ._compile import get, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitcache import Cache

# The suffix that JAX appends to the name of a program.
_SUFFIX = "-cache"

_cache: Callable[[], Cache] | None = None


class Path(pathlib.PurePosixPath):
    """A name below ``jitcache://``, with the methods that JAX calls for files."""

    def mkdir(self, *_args: Any, **_more: Any) -> None:
        """Do nothing: there are no folders."""

    def _name(self) -> str:
        return self.name.removesuffix(_SUFFIX)

    def _read(self) -> bytes | None:
        return None if _cache is None else get(_cache(), self._name())

    def exists(self, *_args: Any, **_more: Any) -> bool:
        """Return whether there is an intact entry."""
        return self._read() is not None

    def read_bytes(self) -> bytes:
        """Return the entry. Raises FileNotFoundError if there is none any more."""
        data = self._read()
        if data is None:
            raise FileNotFoundError(str(self))
        return data

    def write_bytes(self, data: bytes) -> int:
        """Store the entry."""
        if _cache is not None:
            put(_cache(), self._name(), bytes(data))
        return len(data)

    def glob(self, _pattern: str) -> list[Path]:
        """Return nothing: the cache evicts by itself."""
        return []


def register_scheme(cache: Callable[[], Cache]) -> None:
    """Make etils return a ``Path`` for names that begin with ``jitcache://``."""
    global _cache
    if _cache is None:
        epath.register_path_cls(SCHEME)(Path)
    _cache = cache
