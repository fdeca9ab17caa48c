"""Measuring: contenders that take turns, round by round."""

from __future__ import annotations

import gc
import itertools
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Callable, NamedTuple


class BenchError(Exception):
    """The benchmark itself went wrong: nothing it says can be trusted."""


class Contender(NamedTuple):
    """One of those that are compared.

    ``run`` does a round and returns microseconds per operation; or several
    values by name, which become contenders "name_value".
    """

    name: str
    run: Callable[[], float | dict[str, float]]


class Series(NamedTuple):
    """Contenders that are measured side by side."""

    at: str  # what tells it from other series of the row: a size
    contenders: list[Contender]
    rounds: int
    warm: bool = True  # one round first that does not count


Samples = dict[str, list[float]]


def measure(series: Series) -> Samples:
    """Give every contender a turn in every round, each round beginning with another."""
    samples: Samples = {}
    order = series.contenders
    if series.warm:
        for c in order:
            c.run()
    gc.collect()
    gc.disable()
    try:
        for r in range(series.rounds):
            start = r % len(order)
            for c in order[start:] + order[:start]:
                got = c.run()
                for suffix, value in got.items() if isinstance(got, dict) else [("", got)]:
                    samples.setdefault(f"{c.name}_{suffix}" if suffix else c.name, []).append(value)
    finally:
        gc.enable()
    return samples


class Loop:
    """A contender in Python: a function over items, one after the other."""

    def __init__(self, function: Callable[[Any], Any], items: Iterable[Any], *, passes: int = 1) -> None:
        self._function = function
        self._items = list(items) * passes
        self.ops = 0  # calls made so far, to hold against the cache's counters

    def __call__(self) -> float:
        function, items = self._function, self._items
        start = time.perf_counter_ns()
        for x in items:
            function(x)
        took = time.perf_counter_ns() - start
        self.ops += len(items)
        return took / 1e3 / len(items)


class Calls:
    """A contender in Python: a function without arguments, so many times."""

    def __init__(self, function: Callable[[], Any], count: int) -> None:
        self._function = function
        self._count = count

    def __call__(self) -> float:
        function, count = self._function, range(self._count)
        start = time.perf_counter_ns()
        for _ in count:
            function()
        return (time.perf_counter_ns() - start) / 1e3 / self._count


class Process:
    """A program that reads commands and answers each with a line."""

    def __init__(self, program: Path, *words: str) -> None:
        self._name = program.name
        self._command = ""
        self._process = subprocess.Popen(
            [str(program), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def send(self, *words: object) -> None:
        """Give a command; receive gets the answer."""
        assert self._process.stdin
        self._command = " ".join(map(str, words))
        self._process.stdin.write(self._command + "\n")
        self._process.stdin.flush()

    def receive(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise BenchError(f"{self._name}: {self._command}: status {self._process.wait()}")
        return line

    def text(self, *words: object) -> str:
        self.send(*words)
        return self.receive()

    def ask(self, *words: object) -> list[int]:
        return [int(w) for w in self.text(*words).split()]

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        if self._process.wait() != 0:
            raise BenchError(f"{self._name}: status {self._process.returncode}")

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is None:
            self.close()
        else:
            self._process.kill()
            self._process.wait()


class Ask:
    """A contender in C: a command that does ``count`` operations."""

    def __init__(self, process: Process, *words: object, count: int) -> None:
        self._process = process
        self._words = words
        self._count = count
        self.ops = 0

    def __call__(self) -> float:
        ns = self._process.ask(*self._words)[0]
        self.ops += self._count
        return ns / 1e3 / self._count


class AskWorst(Ask):
    """The same for commands that also say how long the longest took."""

    def __call__(self) -> dict[str, float]:  # type: ignore[override]
        ns, worst = self._process.ask(*self._words)[:2]
        self.ops += self._count
        return {"": ns / 1e3 / self._count, "worst": worst / 1e3}


class Turns:
    """A contender that is another one of several alike in each round."""

    def __init__(self, runs: list[Ask]) -> None:
        self._runs = itertools.cycle(runs)
        for run in runs:
            run()  # the first call of each is not to count

    def __call__(self) -> float:
        return next(self._runs)()
