"""One compile for an MPI job.

    from jitcache import mpi

    code = mpi.get_or_compile(comm, cache, key, lambda: build(source))

One rank of a communicator has the result or compiles it, and sends it to the
others by MPI: nobody waits for a file to appear in a directory, and nobody reads
what another rank has just written. ``comm`` is a communicator of mpi4py or
petsc4py, or None for a process that is alone; this module imports neither.

The functions are **collective**: every rank of the communicator calls them, in
the same order as its other collectives, as with ``comm.bcast``. All ranks return
the same bytes or raise the same exception: if one rank fails, in ``compile`` or
before, all raise. docs/mpi.md says more.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable, Literal, NamedTuple, TypeVar, Union

from ._cache import Cache
from ._default import cache_of
from ._detached_entry import DetachedEntry
from ._errors import Error
from ._key import Key
from ._lease import as_bytes
from ._location import location_of, machine
from ._ranks import communicator, group_of, received, together

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ._entry import Entry

__all__ = ["entry_or_compile", "get_or_compile", "together"]

T = TypeVar("T")

#: A cache; None: the default one of each rank; False: no cache.
AnyCache = Union[Cache, None, Literal[False]]
#: A key, or a function that makes it, which one rank of each machine calls.
AnyKey = Union[Key, Callable[[], Key]]


def get_or_compile(
    comm: Any,
    cache: AnyCache,
    key: AnyKey,
    compile: Callable[[], Any],  # noqa: A002
    *,
    attributes: Mapping[str, Any] | None = None,
    kind: str = "generic",
    timeout: float | None = None,
    cpu: str = "cpu",
) -> bytes:
    """Return the entry's bytes on every rank; one rank compiles them if no rank has them. Collective.

    ``comm``: the ranks that ask: any communicator of mpi4py or petsc4py, or None.
    ``cache``: this rank's cache, None for the default one, False for none. Among the
    ranks whose caches are in the same directory, one looks up and stores for all; each
    directory, for example of another node, has one such rank. ``key``: this rank's
    key, or a function that makes it. One rank of each machine calls the function, and
    sends the key to the machine's other ranks: for expensive keys that cannot differ
    there. ``compile()`` returns bytes; one rank calls it, the others sleep.
    ``attributes``, ``kind`` and ``timeout`` are those of ``Cache.get_or_compile``,
    which also says how long another job that compiles the same is waited for.

    The keys of all ranks must be equal except in the component labelled by ``cpu``.
    Ranks that differ only in that one get what was compiled for their CPU: each
    distinct key that is missing is compiled once.

    Raises on every rank: Error if keys differ, which names the components and the
    ranks; CompileError, with the compiler's output as ``log``, if ``compile`` raised
    it or subprocess.CalledProcessError; Error with the text of whatever else a rank
    raised. On the rank that failed the original is the ``__cause__``.
    """
    with entry_or_compile(
        comm, cache, key, compile, attributes=attributes, kind=kind, timeout=timeout, cpu=cpu
    ) as entry:
        return bytes(entry.view)


def entry_or_compile(
    comm: Any,
    cache: AnyCache,
    key: AnyKey,
    compile: Callable[[], Any],  # noqa: A002
    *,
    attributes: Mapping[str, Any] | None = None,
    kind: str = "generic",
    timeout: float | None = None,
    cpu: str = "cpu",
) -> Entry:
    """As ``get_or_compile``, but return an Entry, for example to use its ``path``. Collective.

    If a rank got the bytes from another rank, the path is that of a file of its own in
    the temp directory, which is removed when the entry is closed.
    """
    comm = communicator(comm)
    own = _OwnRank(cache, key)
    reports = together(comm, own.report)
    own.key = _agreed_key(comm, reports, own.key)
    plan = _plan(comm, reports, own.key, cpu)

    found = together(comm, lambda: own.look_up() if comm.rank in plan.leaders else False)
    missing = plan.compilers(found)
    if missing:
        together(
            comm,
            lambda: own.compile(compile, attributes, kind, timeout) if comm.rank in missing else None,
            patient=True,
        )
    has = [there or rank in missing for rank, there in enumerate(found)]
    entry = received(comm, plan.senders(has), own.entry, kind, own.key.name)
    if comm.rank in plan.leaders and not has[comm.rank]:
        own.store(entry, kind)
    return entry


# -- one rank


class _RankReport(NamedTuple):
    """What a rank tells the others."""

    machine: str
    location: tuple[Any, ...] | None  # identifies the directory of its cache; None: no cache
    digits: str  # of its key; "" if one rank of the machine must make it


class _OwnRank:
    """What one rank has and does alone. Its methods may raise; ``together`` tells the other ranks."""

    def __init__(self, cache: AnyCache, key: AnyKey) -> None:
        self._asked = cache
        self.key: Any = key
        self.cache: Cache | None = None
        self.entry: Entry | None = None

    def report(self) -> _RankReport:
        """Open the cache; return where it is, and the key."""
        if not isinstance(self.key, Key) and not callable(self.key):
            raise TypeError(f"key: want a Key or a function, not {type(self.key).__qualname__}")
        self.cache = cache_of(self._asked)
        location = None if self.cache is None else location_of(self.cache)
        return _RankReport(machine(), location, self.key.hex if isinstance(self.key, Key) else "")

    def look_up(self) -> bool:
        """Return whether the cache has the entry. It counts no miss: the rank that compiles counts it."""
        assert self.cache is not None
        if self.cache.explain(self.key).get("hit"):
            self.entry = self.cache.entry(self.key)
        return self.entry is not None

    def compile(
        self, run: Callable[[], Any], attributes: Mapping[str, Any] | None, kind: str, timeout: float | None
    ) -> None:
        """Compile and store the entry, or get it if another process has compiled it meanwhile."""
        if self.cache is None:
            self.entry = DetachedEntry(as_bytes(run()), attributes, kind, self.key.name)
        else:
            self.entry = self.cache.entry_or_compile(self.key, run, attributes=attributes, kind=kind, timeout=timeout)

    def store(self, entry: Entry, kind: str) -> None:
        """Store the entry of another rank. It is no error if the directory does not take it."""
        assert self.cache is not None
        with contextlib.suppress(Error):
            self.cache.put(self.key, entry.view, attributes=entry.attributes or None, kind=kind)


# -- all ranks


def _agreed_key(comm: Any, reports: Sequence[_RankReport], key: AnyKey) -> Key:
    """Return this rank's key. Collective. If functions make the key, one rank of each machine calls its own."""
    if all(a.digits for a in reports):
        return key  # type: ignore[return-value]
    sources = list(range(len(reports)))
    first: dict[str, int] = {}
    for rank, a in enumerate(reports):
        if not a.digits:
            sources[rank] = first.setdefault(a.machine, rank)
    made: list[Key] = []

    def make() -> str:
        if sources[comm.rank] == comm.rank:
            made.append(key if isinstance(key, Key) else key())
            if not isinstance(made[0], Key):
                raise TypeError(f"key: want a Key from the function, not {type(made[0]).__qualname__}")
            return made[0].hex
        return ""

    digits = together(comm, make, patient=True)
    group = group_of(comm, sources)
    agreed: Key = group.bcast(made[0] if made else None, 0)
    group.Free()
    for rank, a in enumerate(reports):
        reports[rank] = a._replace(digits=digits[sources[rank]])  # type: ignore[index]
    return agreed


class _Plan:
    """Which ranks look up, compile and send. It is made from gathered reports, so it is the same on every rank."""

    def __init__(self, reports: Sequence[_RankReport]) -> None:
        self._reports = reports
        self._leader: dict[Any, int] = {}  # by directory and key: the rank that reads and writes
        for rank, a in enumerate(reports):
            if a.location is not None:
                self._leader.setdefault((a.location, a.digits), rank)
        self.leaders = frozenset(self._leader.values())

    def compilers(self, found: Sequence[bool]) -> frozenset[int]:
        """Return a rank for each key that no rank has, if possible one with a directory."""
        known = {a.digits for a, there in zip(self._reports, found) if there}
        chosen: dict[str, int] = {}
        for rank in [*sorted(self.leaders), *range(len(self._reports))]:
            digits = self._reports[rank].digits
            if digits not in known:
                chosen.setdefault(digits, rank)
        return frozenset(chosen.values())

    def senders(self, has: Sequence[bool]) -> list[int]:
        """Return the source of each rank's bytes: itself, its directory's leader, or the first rank that has them."""
        first: dict[str, int] = {}
        for rank, a in enumerate(self._reports):
            if has[rank]:
                first.setdefault(a.digits, rank)
        sources = []
        for rank, a in enumerate(self._reports):
            near = self._leader.get((a.location, a.digits), rank)
            sources.append(next((r for r in (rank, near) if has[r]), first[a.digits]))
        return sources


def _plan(comm: Any, reports: Sequence[_RankReport], key: Key, cpu: str) -> _Plan:
    """Compare the keys, and return the plan. Collective. Raises Error if the keys differ in more than the CPU."""
    if len({a.digits for a in reports}) > 1:
        # A rank without the library makes keys of another kind, which are compared among themselves.
        parts = comm.allgather((key._sealed[:8], key.components))
        for magic in {m for m, _ in parts}:
            ranks = [rank for rank, (m, _) in enumerate(parts) if m == magic]
            _compare(ranks, [reports[r].digits for r in ranks], [parts[r][1] for r in ranks], cpu)
    return _Plan(reports)


def _compare(ranks: Sequence[int], digits: Sequence[str], parts: Sequence[Mapping[str, str]], cpu: str) -> None:
    labels = sorted({label for p in parts for label in p})
    different = [label for label in labels if len({p.get(label) for p in parts}) > 1]
    if not different and len(set(digits)) > 1:
        raise Error(f"key differs between ranks {_sides(ranks, digits)}, its components are not known")
    if not set(different) <= {cpu}:
        sides = {label: _sides(ranks, [p.get(label) for p in parts]) for label in different if label != cpu}
        named = ", ".join(f"{label!r} (ranks {text})" for label, text in sides.items())
        raise Error(f"key differs between ranks in component {named}")


def _sides(ranks: Sequence[int], values: Sequence[Any]) -> str:
    """Return which ranks agree, as text: "0-2,5 | 3,4"."""
    sides: dict[Any, list[int]] = {}
    for rank, value in zip(ranks, values):
        sides.setdefault(value, []).append(rank)
    texts = [_ranges(side) for side in sides.values()]
    return " | ".join(texts[:_MOST] + ["…"] * (len(texts) > _MOST))


_MOST = 8


def _ranges(ranks: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in runs]
    return ",".join(texts[:_MOST] + ["…"] * (len(texts) > _MOST))
