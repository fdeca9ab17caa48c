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
    from ._key import Handle, Key

# How many entries are kept, and after how many hits on one of them the library
# is told: it orders entries by use, counts hits, and renews files that are used
# from memory only.
_MOST = 1024
_REPORT_EVERY = 256


class _Kept:
    __slots__ = ("handle", "hit", "looks", "reported", "retired", "view")

    def __init__(self, handle: Handle, view: memoryview) -> None:
        self.handle = handle  # keeps the key of the library
        self.view = view
        # next() of a count is atomic, += is not.
        self.hit = itertools.count(1).__next__
        self.looks = 0  # numbers that were taken to look at the count
        self.reported = 0
        self.retired = False  # left the table: every further hit is reported at once


class Recent:
    """The table of one cache."""

    def __init__(self, lib: _ffi.Library, word: ctypes.c_void_p, epoch: int) -> None:
        self._lib = lib
        self._word = word
        self._epoch = ctypes.c_uint64.from_address(epoch)
        self._since = self._epoch.value
        self._kept: dict[bytes, _Kept] = {}
        self._lock = threading.Lock()

    def get(self, key: Key) -> memoryview | None:
        """Return the view that was kept for a key, if it still stands."""
        kept = self._kept.get(key._digest)
        if kept is None:
            return None
        if self._epoch.value != self._since:
            self.report()
            return None
        if kept.hit() % _REPORT_EVERY == 0 or kept.retired:
            self._report(kept)
        return kept.view

    def keep(self, key: Key, view: memoryview, kind: str) -> None:
        """Keep a view of an entry of some kind, which was just looked up."""
        if self._epoch.value != self._since or len(self._kept) >= _MOST:
            self.report()
        # One that another thread has kept meanwhile stays: it has hits to report.
        self._kept.setdefault(key._digest, _Kept(key._handle_of(self._lib, kind), view))

    def _report(self, kept: _Kept) -> None:
        with self._lock:
            hits = kept.hit() - 1 - kept.looks
            kept.looks += 1
            new, kept.reported = hits - kept.reported, hits
        if new > 0:
            self._lib.jitcache_used(self._word, kept.handle.word, new)

    def report(self) -> None:
        """Tell the library of all hits, and start over."""
        self._since = self._epoch.value
        kept, self._kept = self._kept, {}
        # Another thread may have found one of these and count its hit only now.
        for k in kept.values():
            k.retired = True
        for k in kept.values():
            self._report(k)

    def forget(self) -> None:
        """Start over in a forked child: the hits are the parent's to report."""
        self._lock = threading.Lock()
        self._since = self._epoch.value
        self._kept = {}
