"""Leases: the right to compile one key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ctypes

    from ._cache import Cache


class Lease:
    """What ``Cache.acquire`` gives: the entry, or the right to compile it.

    Use it in ``with``. On a hit ``data`` is the bytes. Otherwise it is ``None``,
    and the caller is to compile and ``commit``; a lease that is left without a
    commit is given up, and whoever waits compiles instead.
    """

    __slots__ = ("_cache", "_word", "data", "hit", "stored")

    def __init__(self, cache: Cache, data: bytes | None, word: ctypes.c_void_p | None) -> None:
        self._cache = cache
        self._word = word
        #: The bytes of the entry; ``None`` until they are committed.
        self.data = data
        #: Whether the entry was there.
        self.hit = data is not None
        #: Whether ``commit`` has stored the result; ``Cache.last_reason`` says why not.
        self.stored = False

    def commit(self, data: Any, *, attributes: Mapping[str, Any] | None = None) -> bool:
        """Store the result, end the lease, and return whether it was stored.

        ``data`` is bytes or anything with the buffer protocol; afterwards it is
        ``self.data`` either way. ``attributes`` is given back with the entry and
        must be representable in JSON. Raises Error if there is no lease.
        """
        if self.hit:
            raise ValueError("the entry was there, there is nothing to commit")
        if self.data is not None:
            raise ValueError("the lease was committed already")
        self.data = as_bytes(data)
        word, self._word = self._word, None
        self.stored = self._cache._commit(word, self.data, as_json(attributes))
        return self.stored

    def release(self) -> None:
        """Give the lease up. May be called more than once, and after ``commit``."""
        word, self._word = self._word, None
        if word is not None:
            self._cache._give_up(word)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def as_bytes(data: Any) -> bytes:
    """Return data as bytes, without a copy if it is that already."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, (str, int)) or data is None:
        raise TypeError(f"want bytes, not {type(data).__qualname__}")
    return bytes(memoryview(data))


def as_json(attributes: Mapping[str, Any] | None) -> bytes | None:
    """Return attributes as JSON text, None for none."""
    if attributes is None:
        return None
    return json.dumps(dict(attributes), separators=(",", ":")).encode()
