"""Bytes that were lately read, given out again for the price of a stat.

A ProgramCache replaces and removes entries like a dictionary, and every process
has to see it at once. So these bytes hold only while the entry's file is the
one that they were read from: every replacement, removal and eviction makes it
another, or none.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jitcache import Cache, Key

# Entries of more bytes are read each time: to read 128 KB costs 10 us more than a stat.
LARGEST = 128 << 10

# How many are kept before all go: 64 MB at most.
_MOST = 512

# After so many seconds an entry is read again, which renews its recency on disk.
_SECONDS = 10.0

_monotonic = time.monotonic
_stat = os.stat

_File = tuple[int, int, int, int]


def _identity(path: str) -> _File | None:
    """Return what changes with every replacement of a file, None if there is none."""
    try:
        s = _stat(path)
    except OSError:
        return None
    return s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns


class _Entry:
    __slots__ = ("data", "file", "hit", "key", "path", "until")

    def __init__(self, key: Key, path: str, file: _File, data: bytes) -> None:
        self.key = key
        self.path = path
        self.file = file
        self.data = data
        self.until = _monotonic() + _SECONDS
        # next() of a count is atomic, += is not.
        self.hit = itertools.count().__next__


class Snapshot(NamedTuple):
    """An entry's file, as it was before it was read."""

    path: str
    file: _File | None


class StatCache:
    """What one cache keeps, by cuda.core's keys."""

    def __init__(self, cache: Cache, directory: str, kind: str) -> None:
        self._cache = cache
        self._folder = os.path.join(directory, "v1", "entries")
        self._kind = kind
        self._entries: dict[bytes, _Entry] = {}
        self._process = os.getpid()

    def get(self, name: bytes) -> bytes | None:
        """Return the bytes that were kept under a key of cuda.core's, if they still stand."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        if _identity(entry.path) != entry.file or _monotonic() > entry.until:
            self.drop(name)
            return None
        entry.hit()
        return entry.data

    def snapshot(self, key: Key) -> Snapshot:
        """Look at the file of an entry that is about to be read."""
        digits = key.hex
        path = f"{self._folder}/{digits[:2]}/{digits[2:]}.jce"
        return Snapshot(path, _identity(path))

    def keep(self, name: bytes, key: Key, snapshot: Snapshot, data: bytes) -> None:
        """Keep what was read, if it was read from the file that is there now."""
        file = _identity(snapshot.path)
        # Not the times: reading an entry may renew them. The number of a file that is
        # there both times is that of the file in between, unless two replacements of
        # this key fell into the lookup; then this is wrong for _SECONDS at most.
        if file is None or snapshot.file is None or file[:2] != snapshot.file[:2] or len(data) > LARGEST:
            return
        if len(self._entries) >= _MOST:
            self.clear()
        self._entries[name] = _Entry(key, snapshot.path, file, data)

    def drop(self, name: bytes) -> None:
        """Forget an entry."""
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._report(entry)

    def clear(self) -> None:
        """Forget all."""
        for name in list(self._entries):
            self.drop(name)

    def _report(self, entry: _Entry) -> None:
        """Have the library count the hits; those of before a fork are the parent's."""
        if self._process != os.getpid():
            self._process = os.getpid()
            for other in list(self._entries.values()):
                other.hit = itertools.count().__next__
            return
        cache, hits = self._cache, entry.hit()
        if hits and cache._lib is not None and cache._handle is not None:
            cache._lib.jitcache_used(cache._handle, entry.key._handle_for(cache._lib, self._kind), hits)
