"""Coverage of random walks: when a walk has seen everything there is to see."""

from __future__ import annotations

import os
import re
import time


class Coverage:
    """What has happened in a walk, and for how many steps nothing new has happened.

    A step is something that happened: to a thing of a kind, what was done, what the
    cache said of it, and what came of it. A walk is saturated when ``quiet`` steps
    in a row have brought nothing that had not happened before.

    In CI a walk ends after ``seconds`` in any case; with ``WALKS_SATURATE`` set, never
    before it is saturated.
    """

    def __init__(self, quiet: int, seconds: float) -> None:
        self.quiet = quiet
        self.end = float("inf") if os.environ.get("WALKS_SATURATE") else time.monotonic() + seconds
        self.seen: dict[tuple[str, ...], int] = {}
        self.steps = self._news = 0

    def step(self, *happened: str) -> None:
        """Note what has happened."""
        if happened not in self.seen:
            self._news = self.steps
        self.seen[happened] = self.seen.get(happened, 0) + 1
        self.steps += 1

    @property
    def saturated(self) -> bool:
        """Whether nothing new has happened for long."""
        return self.steps - self._news > self.quiet

    @property
    def over(self) -> bool:
        """Whether the walk ends."""
        return self.saturated or time.monotonic() > self.end

    def __str__(self) -> str:
        once = sum(n == 1 for n in self.seen.values())
        how = "saturated" if self.saturated else "not saturated"
        return f"{self.steps} steps, {len(self.seen)} things seen, {once} of them once, the last in step {self._news}: {how}"


def fact(missed: str) -> str:
    """Return what was noticed, without the path: "content changed" for "/a/b.h: content changed"."""
    noticed = missed.rpartition(": ")[2] if missed.startswith("/") else missed.partition(" ")[2]
    return re.sub(r"\d+", "n", noticed)


def kind(path: str) -> str:
    """Return the kind of a path in a walk's world: paths that differ only in numbers are of one kind."""
    return re.sub(r"\d+", "n", path)
