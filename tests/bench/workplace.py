"""Where a run works: its folders, its scale, and caches that several rows read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from ground import OUT, Ground
from runs import BenchError, Process

SIZES = {"4k": 4 << 10, "24k": 24 << 10, "64k": 64 << 10, "1m": 1 << 20}
SMALL = (512, 4096)  # sizes of the entries of large caches
MEMORY = Path("/dev/shm")  # where Linux has a tmpfs
NEEDED_IN_MEMORY = 2 << 30


class Scale(NamedTuple):
    """How much of everything."""

    rounds: int  # of what takes microseconds
    slow: int  # of what takes milliseconds
    entries: int  # distinct ones looked up in turn, up to 64 KB
    big: int  # the same at 1 MB: all of it has to stay in the page cache
    puts: int  # in a round
    caches: dict[str, int]  # entries of the caches that are opened
    full: int  # entries of the full cache
    full_rival: int  # the same for cuda.core, whose puts then take 80 ms each


FULL = Scale(41, 21, 1000, 100, 64, {"1k": 1000, "20k": 20_000, "100k": 100_000}, 100_000, 10_000)
QUICK = Scale(5, 3, 200, 70, 32, {"1k": 1000, "20k": 3000, "100k": 6000}, 6000, 1000)


class Workplace:
    """The state of one run."""

    def __init__(self, ground: Ground, scale: Scale) -> None:
        self.ground = ground
        self.scale = scale
        self.notes: dict[str, Any] = {}  # what a row has found out beside times
        self._work = OUT / f"work-{os.getpid()}"
        self._made: dict[str, Path] = {}

    def folder(self, name: str) -> Path:
        """Return a new folder. All are removed at the end, and none before: on
        ext4 without a journal making a file is slow for minutes after many were
        removed, because it passes over their inodes."""
        path = self._work / name
        path.mkdir(parents=True)
        return path

    def clean(self) -> None:
        """Remove what this run has made, and what killed ones have left."""
        for old in [*OUT.glob("work-*"), *MEMORY.glob("jitcache-bench-*")]:
            owner = old.name.rpartition("-")[2]
            if owner == str(os.getpid()) or not Path("/proc", owner).exists():
                shutil.rmtree(old, ignore_errors=True)

    def bench(self) -> Process:
        return Process(self.ground.bench)

    def count(self, at: str) -> int:
        return self.scale.big if at == "1m" else self.scale.entries

    def corpus(self, process: Process, folder: Path, at: str, memory: str = "0", count: int = 0) -> None:
        """Open a cache in place 0 of a C process with the keys of its entries, stored if they are not yet."""
        process.ask("open", 0, folder, memory, "-")
        process.ask("corpus", 0, at, count or self.count(at), SIZES[at])

    def entries(self, at: str) -> Path:
        """Return the cache with the entries of a size that disk rows look up."""
        name = f"entries-{at}"
        if name not in self._made:
            self._made[name] = self.folder(name)
            with self.bench() as c:
                self.corpus(c, self._made[name], at)
        return self._made[name]

    def small_entries(self, at: str) -> Path:
        """Return a cache with so many small entries."""
        name = f"small-{at}"
        if name not in self._made:
            self._made[name] = self.ready(name)
            with self.bench() as c:
                c.ask("open", 0, self._made[name], 0, "0")
                c.ask("put", 0, self.scale.caches[at], *SMALL, "-")
                c.ask("close", 0)
        return self._made[name]

    def in_memory(self, name: str) -> Path | None:
        """Return an empty cache on tmpfs, None if there is no room for one."""
        if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < NEEDED_IN_MEMORY:
            self.notes["not measured"]["tmpfs"] = f"{MEMORY} has not {NEEDED_IN_MEMORY >> 30} GiB to spare"
            return None
        home = MEMORY / f"jitcache-bench-{os.getpid()}"
        if not home.exists():
            home.mkdir(mode=0o700)
            touch_memory(home / "touch")
        folder = home / name
        folder.mkdir()
        return self._prepare(folder)

    def ready(self, name: str) -> Path:
        """Return an empty cache with all 256 folders, as one in use has them."""
        return self._prepare(self.folder(name))

    def _prepare(self, folder: Path) -> Path:
        with self.bench() as c:
            c.ask("open", 0, folder, 0, "-")
            c.ask("close", 0)
        for i in range(256):
            (folder / "v1" / "entries" / f"{i:02x}").mkdir(mode=0o700, exist_ok=True)
        return folder


def touch_memory(path: Path) -> None:
    """Use as much memory as the rows on tmpfs will, and give it back.

    A virtual machine gets a page from its host when it first writes to it, which
    costs more than all the rest of a put.
    """
    block = b"\xff" * (16 << 20)
    with path.open("wb", buffering=0) as f:
        for _ in range(NEEDED_IN_MEMORY // len(block) * 3 // 4):
            f.write(block)
    path.unlink()


def counters(process: Process, place: int = 0) -> dict[str, Any]:
    """Return the counters of a cache, over all processes that have written theirs."""
    stats: dict[str, Any] = json.loads(process.text("stats", place))
    return {**stats["total"], "bytes": stats["bytes"], "entries": stats["entries"]}


def check_rise(what: str, before: dict[str, Any], after: dict[str, Any], **rises: int) -> None:
    """Raise unless counters rose by exactly so much: else something else was measured."""
    for name, want in rises.items():
        got = after[name] - before[name]
        if got != want:
            raise BenchError(f"{what}: {name} rose by {got}, not by {want}")
