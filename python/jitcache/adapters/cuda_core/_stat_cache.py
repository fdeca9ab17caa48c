"""The stat cache: bytes that were read lately, returned again after one stat.

A ProgramCache replaces and removes entries like a dictionary, and every process must
see that at once. So the bytes are valid only while the entry's file is the one that
they were read from: after a replacement there is another file, after a removal or
eviction none.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jitcache import Cache, Key

# Larger entries are read each time: reading 128 KB takes 10 us more than a stat.
LARGEST = 128 << 10

# When so many entries are kept, all are dropped; they take 64 MB at most.
_MOST = 512

# After so many seconds an entry is read again, which renews its time of use on disk.
_SECONDS = 10.0

_monotonic = time.monotonic
_stat = os.stat

_File = tuple[int, int, int, int]


def _identity(path: str) -> _File | None:
    """Return values that change when a file is replaced; None if there is no file."""
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
        # Counts a hit: next() of a count is atomic, += is not.
        self.hit = itertools.count().__next__


class Snapshot(NamedTuple):
    """An entry's file, as it was before it was read."""

    path: str
    file: _File | None


class StatCache:
    """The bytes of one cache, by cuda.core's keys."""

    def __init__(self, cache: Cache, directory: str, kind: str) -> None:
        self._cache = cache
        self._folder = os.path.join(directory, "v1", "entries")
        self._kind = kind
        self._entries: dict[bytes, _Entry] = {}
        self._process = os.getpid()

    def get(self, name: bytes) -> bytes | None:
        """Return the bytes that are kept under a key of cuda.core's, None if there are none or they are out of date."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        if _identity(entry.path) != entry.file or _monotonic() > entry.until:
            self.drop(name)
            return None
        entry.hit()
        return entry.data

    def snapshot(self, key: Key) -> Snapshot:
        """Stat the file of an entry before it is read."""
        digits = key.hex
        path = f"{self._folder}/{digits[:2]}/{digits[2:]}.jce"
        return Snapshot(path, _identity(path))

    def keep(self, name: bytes, key: Key, snapshot: Snapshot, data: bytes) -> None:
        """Keep the bytes, if they were read from the file that is there now."""
        file = _identity(snapshot.path)
        # The times are not compared: reading an entry may renew them. If the inode is the
        # same before and after the lookup, it was the same in between, unless two
        # replacements of this key fell into the lookup; then this is wrong for _SECONDS
        # at most.
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
        """Report an entry's hits to the library; the parent reports those from before a fork."""
        if self._process != os.getpid():
            self._process = os.getpid()
            for other in list(self._entries.values()):
                other.hit = itertools.count().__next__
            return
        cache, hits = self._cache, entry.hit()
        if hits and cache._lib is not None and cache._handle is not None:
            cache._lib.jitcache_used(cache._handle, entry.key._handle_for(cache._lib, self._kind), hits)
