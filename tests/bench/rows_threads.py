"""The row about hits of many threads at once: the tail of their times, and what they do together."""

from __future__ import annotations

from collections.abc import Iterator

from runs import Contender, Process, Series
from workplace import Workplace, check_rise, counters


class _Tails:
    """A contender that says how its times are spread."""

    def __init__(self, process: Process, command: str, threads: int, amount: int, how: str) -> None:
        self._process = process
        self._words = (command, 0, threads, amount, how)
        # Of commands that run for a time: how long, in microseconds.
        self._window = amount * 1000 if command == "tails" else 0
        self.ops = 0

    def __call__(self) -> dict[str, float]:
        p50, p99, p999, hits = self._process.ask(*self._words)
        self.ops += hits
        spread = {"p50": p50 / 1e3, "p99": p99 / 1e3, "p999": p999 / 1e3}
        # Of all threads together: with two processors two threads should halve it.
        return {**spread, "per_hit": self._window / hits} if self._window else spread


def hit_among_threads(w: Workplace) -> Iterator[Series]:
    """Hits on disk and in memory, and the same files read by hand: what the machine's scheduler does alone."""
    quick = w.scale.rounds < 10
    samples = 60 if quick else 400
    with w.bench() as c, w.bench() as m:
        w.corpus(c, w.entries("64k"), "64k")
        w.corpus(m, w.folder("memory-threads"), "64k", "2Gi")
        m.ask("warm", 0)
        before = counters(c), counters(m)
        runs = {}
        for name, process, how in (("disk", c, "get"), ("memory", m, "get"), ("c_read", c, "read")):
            for threads, window in ((1, 100), (2, 100), (8, 150 if quick else 400)):
                runs[f"{name}_{threads}_threads"] = _Tails(process, "tails", threads, window, how)
            runs[f"{name}_1_beside_4"] = _Tails(process, "alone", 4, samples, how)
        yield Series("64k", [Contender(name, run) for name, run in runs.items()], 3 if quick else 9, warm=False)
        hits = {name: sum(r.ops for n, r in runs.items() if n.startswith(name)) for name in ("disk", "memory")}
        check_rise("disk hit among threads", before[0], counters(c), hits_disk=hits["disk"], hits_memory=0)
        check_rise("memory hit among threads", before[1], counters(m), hits_memory=hits["memory"], hits_disk=0)
