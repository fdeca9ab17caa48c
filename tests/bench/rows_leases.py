"""Rows about leases: what one costs that nobody else wants, and how soon those who wait go on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from runs import Ask, BenchError, Contender, Process, Series
from workplace import Workplace

PAIRS = 200
WAKES = 5


def lease_pair(w: Workplace) -> Iterator[Series]:
    """Acquire of a missing key and the lease given up, beside the least that a lock file costs."""
    folders = {"c": w.ready("lease-pair"), "c_tmpfs": w.in_memory("lease-pair")}
    for at, folder in folders.items():
        if folder is None:
            continue
        with w.bench() as c:
            c.ask("open", 0, folder, 0, "-")
            c.ask("lease_pair", 0, 1)  # makes the folder of the lock files
            floor = Ask(c, "flock_pair", folder / "v1" / "locks", PAIRS, count=PAIRS)
            pair = Ask(c, "lease_pair", 0, PAIRS, count=PAIRS)
            yield Series(at, [Contender("c_flock", floor), Contender("jitcache", pair)], w.scale.rounds)


class _Wakes:
    """A contender: one process holds and commits, another waits."""

    def __init__(self, holder: Process, waiter: Process) -> None:
        self._holder, self._waiter = holder, waiter
        self._serial = itertools.count()

    def __call__(self) -> float:
        total = 0.0
        for _ in range(WAKES):
            n = next(self._serial)
            self._holder.ask("hold", 0, n)
            self._waiter.send("wait", 0, n)
            # Long enough that the waiter has come to its longest pause.
            committed = self._holder.ask("commit_held", 60)[0]
            since, until = (int(word) for word in self._waiter.receive().split())
            if since > committed:
                raise BenchError("the waiter came too late to wait")
            total += (until - committed) / 1e3
        return total / WAKES


def lease_wake(w: Workplace) -> Iterator[Series]:
    """From the beginning of a commit until the waiter has the entry."""
    with w.bench() as holder, w.bench() as waiter:
        _open_both(holder, waiter, w.ready("lease-wake"))
        contenders = [
            Contender("jitcache_thread", Ask(holder, "wake", 0, WAKES, count=WAKES)),
            Contender("jitcache_process", _Wakes(holder, waiter)),
        ]
        yield Series("c", contenders, w.scale.slow)


def _open_both(holder: Process, waiter: Process, folder: Path) -> None:
    for process in (holder, waiter):
        process.ask("open", 0, folder, 0, "-")
