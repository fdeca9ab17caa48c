"""The view tier: it answers from views that exist already, without a call of the library.

A hit in the library's memory costs a call through ctypes and the making of a
memoryview, a microsecond. Most programs ask for the same few entries over and
over; for those this tier answers in a seventh of that time. It holds views of the
library's memory, not copies, and only of entries that the library holds itself.

A view is never older than what the library would return. A lookup takes the current
table before it asks the library, and puts what it finds into that table. Whatever may
make views out of date replaces the table by an empty one. There are two such events.
The library counts its epoch up when an entry leaves its tier or is replaced there. And
a call of this cache that replaces or removes entries replaces the table twice, when it
begins and when it ends. So a view that was found before a change ends up, at worst, in
a table that nobody reads any more.

There is no lock: a signal handler or a destructor may look something up between
any two steps, and its thread would wait for itself. Each step that others can see is
one operation of a dict or list, or one assignment; nobody iterates over a table.
"""

from __future__ import annotations

import atexit
import ctypes
import os

from . import _ffi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from ._key import Key, KeyHandle

    #: Views by the digests of their keys.
    Table = dict[bytes, "_Given"]
    #: The table for the result of a lookup, and the library's epoch before it.
    Ticket = tuple[Table, int]

# How many views are held at most.
_MOST = 1024

# After so many hits on a view they are reported to the library, which orders entries
# by use, counts hits, and renews files that are used from memory only. There is one
# argument of memoryview.cast for each hit.
_BATCH = 256
_FORMATS = ("B",) * _BATCH


class _Given:
    """A view that is returned again and again, and counts its hits in batches.

    A batch that is used up is reported at once. The rest is reported when this object
    is freed: when neither a table nor a thread that is returning it refers to it. So
    each hit is counted exactly once.
    """

    __slots__ = ("_key", "_left", "_unreported", "_used", "_view", "epoch", "take")

    def __init__(
        self, used: Callable[[ctypes.c_void_p, int], int], key: KeyHandle, view: memoryview, epoch: int
    ) -> None:
        self._unreported: list[None] = []  # first: __del__ reads it, whatever happens below
        self._used = used
        self._key = key
        self._view = view.toreadonly()  # a view of our own: the caller may release theirs
        self.epoch = epoch
        self.begin_batch()

    def begin_batch(self) -> None:
        """Count hits from zero, without a report."""
        self._left: Any = iter(_FORMATS)
        cast: Any = self._view.cast
        #: Returns a new view and counts the hit, in one step; raises StopIteration when the batch is used up.
        self.take: Callable[[], memoryview] = map(cast, self._left).__next__
        self._unreported[:] = [None]

    def take_from_next(self) -> memoryview | None:
        """Report the batch that is used up, and return a view from the next; None if another thread does it."""
        try:
            self._unreported.pop()
        except IndexError:
            return None
        self.begin_batch()
        self._used(self._key.handle, _BATCH)
        try:
            return self.take()
        except StopIteration:  # other threads have used it up again
            return None

    def __del__(self) -> None:
        if self._unreported:
            hits: int = _BATCH - self._left.__length_hint__()
            if hits:
                self._used(self._key.handle, hits)


class ViewTier:
    """The tier of one cache."""

    def __init__(self, lib: _ffi.Library, cache: ctypes.c_void_p, epoch: int) -> None:
        self._lib = lib
        self._used: Callable[[ctypes.c_void_p, int], int] = lambda key, hits: lib.jitcache_used(cache, key, hits)
        self._epoch = ctypes.c_uint64.from_address(epoch)
        self._changes: list[None] = []  # an element for each change under way
        self.start_over()
        _open[id(self)] = self

    def get(self, key: Key) -> memoryview | None:
        """Return a view of the entry if the tier holds one that is still valid."""
        given = self._table.get(key._digest)
        if given is None or self._epoch.value != given.epoch:
            return None
        try:
            return given.take()
        except StopIteration:
            return given.take_from_next()

    def drop_stale(self) -> int:
        """Drop all views if the library has dropped an entry; return its epoch."""
        epoch = self._epoch.value
        if epoch != self._since:
            self.start_over()
        return epoch

    def begin_lookup(self) -> Ticket:
        """Return a ticket for ``keep``; take it before the lookup."""
        epoch = self.drop_stale()
        return self._table, epoch

    def keep(self, ticket: Ticket, key: Key, view: memoryview, kind: str) -> None:
        """Hold a view of the entry that a lookup has found, unless something has changed since the ticket."""
        table, epoch = ticket
        if self._changes or self._epoch.value != epoch:
            return
        owner = key._owner_for(self._lib, kind)
        if self._used(owner.handle, 0) != _ffi.OK:
            return  # the entry is too large for the library's memory
        if len(table) >= _MOST:
            self.start_over()
            return
        # A view that another thread has put there meanwhile stays: it has hits.
        table.setdefault(key._digest, _Given(self._used, owner, view, epoch))

    def start_over(self) -> None:
        """Drop all views, and report their hits."""
        self._since = self._epoch.value
        self._table: Table = {}

    def begin_change(self) -> None:
        """Drop all views before a call that may replace or remove entries. Call ``end_change`` after it."""
        self._changes.append(None)
        self.start_over()

    def end_change(self) -> None:
        """Drop all views after such a call, successful or not, and keep views again."""
        self.start_over()
        self._changes.pop()

    def close(self) -> None:
        """Drop all views, and keep none any more. The library's epoch is not read any more."""
        self._changes.append(None)
        self._epoch = ctypes.c_uint64(self._epoch.value + 1)
        self.start_over()
        _open.pop(id(self), None)

    def forget(self) -> None:
        """Start over in a forked child: the parent reports the hits so far, and its threads are not here."""
        for given in list(self._table.values()):
            given.begin_batch()
        self._changes = []
        self.start_over()


_open: dict[int, ViewTier] = {}  # the tiers that are not closed, by id


def _at_exit() -> None:
    for tier in list(_open.values()):
        tier.start_over()


def _after_fork() -> None:
    for tier in list(_open.values()):
        tier.forget()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
