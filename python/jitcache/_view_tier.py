"""What a cache has lately given out, to give it again without a call.

A hit in the library's own memory costs a call through ctypes and the making of
a memoryview, a microsecond. Most programs ask for the same few entries over and
over; for those this table answers in a tenth of it. It holds views of the
library's memory, no copies, and only for as long as the library keeps the
entries itself: a word that the library changes says when to start over.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import _ffi
    from ._key import Key, KeyHandle

# How many entries are given, and after how many hits on one of them the library
# is told: it orders entries by use, counts hits, and renews files that are used
# from memory only.
_MOST = 1024
_REPORT_EVERY = 256


class _Given:
    __slots__ = ("hit", "looks", "owner", "reported", "retired", "view")

    def __init__(self, owner: KeyHandle, view: memoryview) -> None:
        self.owner = owner  # keeps the key of the library
        self.view = view
        # next() of a count is atomic, += is not.
        self.hit = itertools.count(1).__next__
        self.looks = 0  # numbers that were taken to look at the count
        self.reported = 0
        self.retired = False  # left the table: every further hit is reported at once


class ViewTier:
    """The table of one cache."""

    def __init__(self, lib: _ffi.Library, handle: ctypes.c_void_p, epoch: int) -> None:
        self._lib = lib
        self._handle = handle
        self._epoch = ctypes.c_uint64.from_address(epoch)
        self._since = self._epoch.value
        self._given: dict[bytes, _Given] = {}
        self._lock = threading.Lock()

    def get(self, key: Key) -> memoryview | None:
        """Return the view that was given for a key, if it still stands."""
        given = self._given.get(key._digest)
        if given is None:
            return None
        if self._epoch.value != self._since:
            self.report()
            return None
        if given.hit() % _REPORT_EVERY == 0 or given.retired:
            self._report(given)
        return given.view

    def keep(self, key: Key, view: memoryview, kind: str) -> None:
        """Keep a view of an entry of some kind, which was just looked up."""
        if self._epoch.value != self._since or len(self._given) >= _MOST:
            self.report()
        # One that another thread has given meanwhile stays: it has hits to report.
        self._given.setdefault(key._digest, _Given(key._owner_for(self._lib, kind), view))

    def _report(self, given: _Given) -> None:
        with self._lock:
            hits = given.hit() - 1 - given.looks
            given.looks += 1
            new, given.reported = hits - given.reported, hits
        if new > 0:
            self._lib.jitcache_used(self._handle, given.owner.handle, new)

    def report(self) -> None:
        """Tell the library of all hits, and start over."""
        self._since = self._epoch.value
        given, self._given = self._given, {}
        # Another thread may have found one of these and count its hit only now.
        for k in given.values():
            k.retired = True
        for k in given.values():
            self._report(k)

    def forget(self) -> None:
        """Start over in a forked child: the hits are the parent's to report."""
        self._lock = threading.Lock()
        self._since = self._epoch.value
        self._given = {}
