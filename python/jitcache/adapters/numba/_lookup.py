"""Lookups: each finds the entry of one compiled signature, or takes the lease for compiling it."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from numba.core.compiler_lock import global_compiler_lock

from jitcache._fork import ForkLock

from . import _cpu as cpu
from ._code import Unkeyable
from ._key import KeyParts, flags_for
from ._record import load, require_nothing_else_made

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jitcache import Cache, Key, Lease

    from ._seen import Seen

#: The kind of the entries.
KIND = "numba"

#: The kind of the records of what compiles looked at.
RECORDS = "_numba-records"

#: How many seconds a thread that holds Numba's compiler lock waits for another process.
LONGEST_LOCKED = 2.0

_holding: Counter[str] = Counter()  # keys whose lease a thread of this process holds or waits for
_lock = ForkLock()

os.register_at_fork(after_in_child=_holding.clear)


class Lookup:
    """One lookup and its result."""

    def __init__(self, overloads: object, sig: Any, flags: Any = None, local_types: Any = None) -> None:
        self.overloads = overloads
        self.sig = sig
        self.flags = flags
        self.local_types = local_types
        self.parts: KeyParts | None = None
        self.target: cpu.Target | None = None
        self.data: bytes | None = None
        self.seen: Seen | None = None  # what the compile of data looked at
        self.lease: Lease | None = None
        self.replace = False
        self.kept = False  # the result is kept by its source
        self.by_code = False  # it is not, as far as is known before its compile
        self.key: Key | None = None  # of data
        self.verified: tuple[list[str] | None] | None = None  # the digests in the entry that is compared with a compile
        self.compiled_from = 0.0  # when the compile began
        self._wanted: Key | None = None  # of the result that the newest record asks for
        self._held = ""

    def flags_of(self, how: Any) -> Any:
        """Return the compile flags. Numba's compiler is asked for them once."""
        if self.flags is None:
            self.flags = flags_for(how)
        return self.flags

    def find(self, cache: Cache) -> None:
        """Get the entry, else the lease. With the lease, look for entries of other CPUs before a compile."""
        assert self.parts is not None
        assert self.target is not None
        if self._get(cache, [self.target]):
            return
        turn = self.parts.turn(self.target)
        locked = global_compiler_lock.is_locked()
        with _lock():
            if locked and _holding[turn.hex]:
                self._count_miss(cache)
                return  # the thread that has the lease needs the lock that this thread holds
            _holding[turn.hex] += 1
            self._held = turn.hex
        self.lease = cache.acquire(turn, LONGEST_LOCKED if locked else None, kind=RECORDS)
        if self._get(cache, [self.target]) or self._get(cache, cpu.usable(cache, self.target)):
            self.end()
            return
        self._count_miss(cache)
        self.by_code = cache.get(self.parts.refused(), kind=RECORDS) is not None
        if self.by_code:
            self.end()  # each process runs Numba's front end; no one has to wait for that of another

    def _get(self, cache: Cache, targets: Iterable[cpu.Target]) -> bool:
        """Get the entry of a record that matches the present state. Return whether there is one."""
        assert self.parts is not None
        records = load(cache.get(self.parts.first(), kind=RECORDS))
        why: Unkeyable | None = None
        for record in records:
            try:
                components, seen, found = record.look(self.parts.walker)
                keys = [self.parts.result(target, components) for target in targets]
                self.key = None
                self._wanted = self._wanted or next(iter(keys), None)
                # Not each of these misses is a miss of the program's: see _count_miss.
                results = ((key, cache.get(key, kind=RECORDS)) for key in keys)
                key, data = next((row for row in results if row[1] is not None), (None, None))
                if data is not None:
                    require_nothing_else_made(self.parts.walker, found)
                    self.key = key
                    self.data, self.seen = data, seen
                    return True
            except Unkeyable as e:
                why = e
        if why is not None and len(records) == 1:
            raise why
        return False

    def note_refused(self, cache: Cache) -> None:
        """Note for later processes that the result is not kept by its source."""
        if self.parts is not None and not self.by_code:
            cache.put(self.parts.refused(), b"refused", kind=RECORDS)

    def _count_miss(self, cache: Cache) -> None:
        """Look the result up once more, so that one miss is counted, and its log line says what has changed."""
        assert self.parts is not None
        cache.get(self._wanted or self.parts.first_named(), kind=KIND)

    def end(self) -> None:
        """Give up the lease, if there still is one."""
        lease, self.lease = self.lease, None
        if lease is not None:
            lease.release()
        held, self._held = self._held, ""
        if held:
            with _lock():
                _holding[held] -= 1
                if not _holding[held]:
                    del _holding[held]
