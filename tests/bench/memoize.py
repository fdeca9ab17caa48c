"""What a hit of ``jitcache.memoize`` costs, and its walk: the least of many rounds. The figures in docs/memoize.md are from here."""

from __future__ import annotations

import dataclasses
import enum
import gc
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import Any, Callable, NamedTuple

import jitcache

TEMPLATE = "x = {}"
SCALE = 3.0
LEVELS = (1, 2, 3)


def indented(text: str) -> str:
    return "  " + text


def generated(name: str, tile: int) -> str:
    return indented(TEMPLATE.format(name) * tile)


@jitcache.memoize
def two_helpers(name: str, tile: int) -> bytes:
    return generated(name, tile).encode()


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Mode(enum.IntEnum):
    FAST = 1
    SMALL = 2


@dataclasses.dataclass
class Shape:
    x: int
    y: int = 3

    def area(self) -> int:
        return self.x * self.y


@dataclasses.dataclass(frozen=True)
class Option:
    name: str
    color: Color = Color.RED


class Point(NamedTuple):
    x: int
    y: int


@jitcache.memoize
def nine_globals(n: int) -> bytes:
    made = (Shape(n).area(), Option("x", Color.GREEN), Point(1, n), Mode.FAST, SCALE, LEVELS, TEMPLATE)
    return indented(repr(made)).encode()


FIRST = """
import time, numpy, jitcache
@jitcache.memoize
def total(n: int) -> bytes:
    return numpy.arange(n).sum().tobytes()
start = time.perf_counter()
total(5)
print(time.perf_counter() - start)
"""


def least(call: Callable[[], Any]) -> float:
    """Return microseconds."""
    best = float("inf")
    for _ in range(100):
        start = time.perf_counter()
        for _ in range(20):
            call()
        best = min(best, (time.perf_counter() - start) / 20)
    return best * 1e6


def first() -> float:
    """Return milliseconds of a first call that hits, in a process that reaches NumPy."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "first.py")
        with open(file, "w") as out:
            out.write(FIRST)
        runs = [subprocess.run([sys.executable, file], stdout=subprocess.PIPE, check=True).stdout for _ in range(11)]
    return min(map(float, runs[1:])) * 1e3


def main() -> None:
    gc.disable()
    given: list[tuple[Any, tuple[Any, ...]]] = [(two_helpers, ("a", 4)), (nine_globals, (5,))]
    for memoized, args in given:
        memoized(*args)
        hit, walk = least(partial(memoized, *args)), least(partial(memoized._described, args, {}))
        print(f"{memoized.__name__}: {hit:.0f} us, of which the walk {walk:.0f} us; {memoized.last_reason or 'kept'}")
    print(f"the first call that reaches NumPy: {first():.1f} ms")


if __name__ == "__main__":
    main()
