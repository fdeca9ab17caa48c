"""Native builds of ranks: a build is recorded on one rank, and checked on the others.

The record tells whether the result is also right elsewhere: on another machine, or
for a rank with other environment variables. So the record is sent with the result,
and a rank that receives both looks up everything that the build looked at. A rank for
which the result is not right builds itself, and then offers its result to the rest.
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
    """What ranks have in common if one of them can build for the others: machine, cache, request and variables."""

    machine: str
    location: tuple[Any, ...] | None  # identifies the directory of the cache; None: no cache
    process: str  # digest of the wish and of the environment variables


class _Offer(NamedTuple):
    """What is sent with the bytes of a result."""

    unit: _Unit
    key: str  # in hexadecimal, "" if the result is not kept
    record_key: str
    record: bytes  # everything that the build looked at


def built_on(comm: Any, wish: Command, cache: Cache | None) -> Entry:
    """Return the result of a wish on every rank, from the cache or from one build for all ranks that are alike.

    Collective. Raises as ``mpi.get_or_compile`` does.
    """
    comm = communicator(comm)
    own = _OwnRank(wish, cache)
    units = together(comm, own.unit)
    leaders = [units.index(unit) for unit in units]
    has = together(comm, lambda: own.look_up() if leaders[comm.rank] == comm.rank else None)
    tried: set[str] = set()  # the keys of the results that were offered
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
    """Send a result to ranks that have none; return its key for each rank that has taken it. Collective."""
    together(comm, lambda: own.make_offer() if comm.rank == source and takers else None)
    group = group_of(comm, [source if rank in takers else rank for rank in range(comm.size)])
    offer, entry = None, None
    if group.size > 1:
        offer = group.bcast(own.offer, 0)
        entry = received(group, [0] * group.size, own.entry, own.wish.entry, own.wish.name)
    group.Free()
    return together(comm, lambda: own.take(offer, entry) if comm.rank in takers else None)


class _OwnRank:
    """What one rank has and does alone. Its methods may raise; ``together`` tells the other ranks."""

    def __init__(self, wish: Command, cache: Cache | None) -> None:
        self.wish = wish
        self.cache = cache
        self.entry: Entry | None = None
        self.offer: _Offer | None = None
        self._unit: _Unit | None = None

    def unit(self) -> _Unit:
        """Return what this rank has in common with the ranks that it could build for."""
        cache = self.cache
        key = None if cache is None or cache._handle is None else process_key_of(self.wish, cache._handle)
        # Without a cache it is not known which variables count, and the request counts alone.
        request = self.wish._replace(process=None).parts()
        process = hashlib.sha256(repr(request).encode()).hexdigest() if key is None else key.hex
        self._unit = _Unit(machine(), None if cache is None else location_of(cache), process)
        return self._unit

    def look_up(self) -> str | None:
        """Look the result up; return its key, None if it is not in the cache."""
        self.entry = None if self.cache is None else look_up(self.wish, self.cache)
        return None if self.entry is None else self._key()

    def build(self) -> str:
        """Build, or wait for another process that builds it; return the key, "" if the result is not kept."""
        self.entry = built(self.wish, self.cache, None)
        return self._key() if self.entry.refused == "" else ""

    def _key(self) -> str:
        handle = None if self.cache is None else self.cache._handle
        key = None if handle is None else key_of(self.wish, handle)
        return "" if key is None else key.hex

    def make_offer(self) -> None:
        """Make the offer of this rank's result."""
        assert self._unit is not None
        key = self._key()
        self.offer = _Offer(self._unit, key, "", b"")
        if key and self.cache is not None and self.cache._handle is not None:
            record = record_key_of(self.wish, self.cache._handle)
            if record is not None:
                self.offer = _Offer(self._unit, key, record.hex, self.cache.get(record, b"", kind="manifest"))

    def take(self, offer: _Offer | None, entry: Entry | None) -> str | None:
        """Keep the result that is offered, and return its key, if it is right here; else return None."""
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
        if self.entry is None:  # this rank may have no directory, or one that stores nothing
            with tempfile.TemporaryDirectory(prefix="jitcache-") as folder, Cache(folder, memory_size=0) as scratch:
                _keep(scratch, self.wish, offer, entry)
                self.entry = entry if look_up(self.wish, scratch) is not None else None
        return None if self.entry is None else offer.key


def _keep(cache: Cache, wish: Command, offer: _Offer, entry: Entry) -> None:
    """Store a result and its record. It is no error if the directory does not take them."""
    with contextlib.suppress(Error):
        cache.put(
            Key.from_hex(offer.key).named(wish.name), entry.view, attributes=entry.attributes or None, kind=wish.entry
        )
        cache.put(Key.from_hex(offer.record_key), offer.record, kind="manifest", replace=True)
