"""The order in which areas run: the longest first, beside each other where they measure no times.

tests/seconds.txt has how long each took in the last run of everything. A run that passes
writes build/test/seconds.txt with its own; copy it where times have changed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .area import Area
from .common import BUILD, CHOICES, PROCESSOR, SHARD, Count, choice, total

RECORDED = Path(__file__).resolve().parent.parent / "seconds.txt"
WRITTEN = BUILD / "test" / RECORDED.name

#: How many areas more run at the same time. One alone leaves two processors idle half of the time.
BESIDES = 2

#: Seconds of an area that has no line yet: it comes before those that are known to be short.
UNKNOWN = 60.0

_HEAD = "# How many seconds each area took, and how many of a processor's. A run that passes writes build/test/seconds.txt.\n"


class Task(NamedTuple):
    """A shard of an area."""

    area: Area
    shard: tuple[int, int]

    @property
    def title(self) -> str:
        n, of = self.shard
        return self.area.name if of == 1 else f"{self.area.name} {n}/{of}"


def _lines() -> dict[str, str]:
    """Read what was recorded of each area: its seconds, and those of a processor."""
    text = RECORDED.read_text() if RECORDED.exists() else ""
    return dict(line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#")


def seconds() -> dict[str, float]:
    """Return how long each area takes."""
    return {name: float(rest.split()[0]) for name, rest in _lines().items()}


_took: dict[str, float] = {}
_telling = threading.Lock()


def _stream(left: deque[Task], counts: dict[str, list[Count]]) -> None:
    """Run tasks until none is left; print a line for each."""
    while True:
        try:
            task = left.popleft()
        except IndexError:
            return
        SHARD.part = task.shard
        start, name = time.monotonic(), task.area.name
        count = task.area.run()
        took = time.monotonic() - start
        kind = CHOICES.get(name, choice.ALL).kind
        with _telling:
            counts.setdefault(name, []).append(count)
            _took[name] = _took.get(name, 0.0) + took
            processor = f"{PROCESSOR.get(name, 0.0):>19.0f}"
            print(
                f"{task.title:22}{kind:11}{count.run:>6}{count.skipped:>9}{count.failed:>8}{took:>9.0f}{processor}",
                flush=True,
            )


def run(areas: list[Area]) -> dict[str, Count]:
    """Run areas, the longest first: one of those that measure times, and two others beside it."""
    known = seconds()
    tasks = [Task(area, (n, area.shards)) for area in areas for n in range(1, area.shards + 1)]
    tasks.sort(key=lambda task: -known.get(task.area.name, UNKNOWN) / task.area.shards)
    alone = deque(task for task in tasks if not task.area.beside)
    beside = deque(task for task in tasks if task.area.beside)
    counts: dict[str, list[Count]] = {}

    def first() -> None:
        _stream(alone, counts)
        _stream(beside, counts)

    with ThreadPoolExecutor(BESIDES + 1) as pool:
        for ended in [pool.submit(first), *(pool.submit(_stream, beside, counts) for _ in range(BESIDES))]:
            ended.result()
    return {name: total(several) for name, several in counts.items()}


def record(counts: dict[str, Count]) -> None:
    """Write how long the areas took that ran whole, with the lines of the others as they were."""
    lines = _lines()
    for name in counts:
        if CHOICES.get(name, choice.ALL).whole is None:
            lines[name] = f"{_took.get(name, 0.0):.0f} {PROCESSOR.get(name, 0.0):.0f}"
    WRITTEN.write_text(_HEAD + "".join(f"{name} {rest}\n" for name, rest in sorted(lines.items())))
