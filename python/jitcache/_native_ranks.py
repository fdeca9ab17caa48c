"""One build for a job of ranks: observed on one of them, and held against the world of the others.

What was recorded where it was built tells whether the result is right elsewhere:
on another machine, or for a rank with other variables. So it travels with the
result, and who looks it up there looks at everything that the build looked at. A
rank for whose world it is not right builds for itself, and then there is one
result more to offer.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from ._cache import Cache
from ._errors import Error
from ._key import Key
from ._location import location_of, machine
from ._native_request import built, key_of, look_up, process_key_of, record_key_of
from ._ranks import communicator, group_of, received, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._entry import Entry
    from ._native_job import Command


class _Unit(NamedTuple):
    """Ranks of one machine that have one cache, and surroundings that are the same: one of them does it for all."""

    machine: str
    location: tuple[Any, ...] | None  # which directory its cache is in; None: no cache
    process: str  # digest of the wish and of the variables


class _Offer(NamedTuple):
    """A result as it travels, beside its bytes."""

    unit: _Unit
    key: str  # in hexadecimal, "" if it is not kept
    record_key: str
    record: bytes  # the worlds for which it is right


def built_on(comm: Any, wish: Command, cache: Cache | None) -> Entry:
    """Return what a wish comes to, on every rank: from the cache, or from one build for all that are alike. Collective.

    Raises as ``mpi.get_or_compile`` does.
    """
    comm = communicator(comm)
    own = _OwnRank(wish, cache)
    units = together(comm, own.unit)
    leaders = [units.index(unit) for unit in units]
    has = together(comm, lambda: own.look_up() if leaders[comm.rank] == comm.rank else None)
    tried: set[str] = set()  # keys of results that were offered
    while pending := [rank for rank in sorted(set(leaders)) if has[rank] is None]:
        source = next((r for r, key in enumerate(has) if key is not None and (key or str(r)) not in tried), None)
        if source is None:
            source = min(pending, key=lambda rank: (units[rank].location is None, rank))
            has = _merged(has, together(comm, lambda: own.build() if comm.rank == source else None, patient=True))  # noqa: B023
        tried.add(has[source] or str(source))
        takers = [rank for rank in pending if has[rank] is None]
        has = _merged(has, _offered(comm, own, source, takers))
    return received(comm, leaders, own.entry, wish.entry, wish.name)


def _merged(has: Sequence[str | None], now: Sequence[str | None]) -> list[str | None]:
    return [was if said is None else said for was, said in zip(has, now)]


def _offered(comm: Any, own: _OwnRank, source: int, takers: Sequence[int]) -> list[str | None]:
    """Send a result to ranks that have none, and return who has taken it; collective."""
    together(comm, lambda: own.make_offer() if comm.rank == source and takers else None)
    group = group_of(comm, [source if rank in takers else rank for rank in range(comm.size)])
    offer, entry = None, None
    if group.size > 1:
        offer = group.bcast(own.offer, 0)
        entry = received(group, [0] * group.size, own.entry, own.wish.entry, own.wish.name)
    group.Free()
    return together(comm, lambda: own.take(offer, entry) if comm.rank in takers else None)


class _OwnRank:
    """What one rank has, and does by itself. Everything here may raise; ``together`` tells the others."""

    def __init__(self, wish: Command, cache: Cache | None) -> None:
        self.wish = wish
        self.cache = cache
        self.entry: Entry | None = None
        self.offer: _Offer | None = None
        self._unit: _Unit | None = None

    def unit(self) -> _Unit:
        """Say for which ranks this one could stand."""
        cache = self.cache
        key = None if cache is None or cache._handle is None else process_key_of(self.wish, cache._handle)
        # Who cannot look at all counts what was asked for.
        process = hashlib.sha256(repr(self.wish.parts()).encode()).hexdigest() if key is None else key.hex
        self._unit = _Unit(machine(), None if cache is None else location_of(cache), process)
        return self._unit

    def look_up(self) -> str | None:
        """Return the key of the result if it is in the cache."""
        self.entry = None if self.cache is None else look_up(self.wish, self.cache)
        return None if self.entry is None else self._key()

    def build(self) -> str:
        """Have it, from the compiler or from who compiles it meanwhile, and return its key, "" if it is not kept."""
        self.entry = built(self.wish, self.cache, None)
        return self._key() if self.entry.refused == "" else ""

    def _key(self) -> str:
        handle = None if self.cache is None else self.cache._handle
        key = None if handle is None else key_of(self.wish, handle)
        return "" if key is None else key.hex

    def make_offer(self) -> None:
        """Put together what goes with the bytes."""
        assert self._unit is not None
        key = self._key()
        self.offer = _Offer(self._unit, key, "", b"")
        if key and self.cache is not None and self.cache._handle is not None:
            record = record_key_of(self.wish, self.cache._handle)
            if record is not None:
                self.offer = _Offer(self._unit, key, record.hex, self.cache.get(record, b""))

    def take(self, offer: _Offer | None, entry: Entry | None) -> str | None:
        """Keep what is offered if it is right here, and return its key; else None."""
        assert self._unit is not None
        if offer is None or entry is None:
            return None
        if (offer.unit.machine, offer.unit.process) == (self._unit.machine, self._unit.process):
            self.entry = entry
            if offer.record and self.cache is not None:
                _keep(self.cache, self.wish, offer, entry)
            return offer.key
        if not offer.record:
            return None
        if self.cache is not None:
            _keep(self.cache, self.wish, offer, entry)
            self.entry = look_up(self.wish, self.cache)
        if self.entry is None:  # its directory may take nothing
            with tempfile.TemporaryDirectory(prefix="jitcache-") as folder, Cache(folder, memory_size=0) as scratch:
                _keep(scratch, self.wish, offer, entry)
                self.entry = entry if look_up(self.wish, scratch) is not None else None
        return None if self.entry is None else offer.key


def _keep(cache: Cache, wish: Command, offer: _Offer, entry: Entry) -> None:
    """Store a result, and in which worlds it is right; a directory that does not take it is no error."""
    with contextlib.suppress(Error):
        cache.put(
            Key.from_hex(offer.key).named(wish.name), entry.view, attributes=entry.attributes or None, kind=wish.entry
        )
        cache.put(Key.from_hex(offer.record_key), offer.record, kind="manifest", replace=True)
