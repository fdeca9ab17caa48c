"""Rows about keys, puts and full caches."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable

import rivals
from runs import Ask, AskWorst, BenchError, Contender, Loop, Process, Series
from workplace import SMALL, Workplace, check_rise, counters

SIZE = 64 << 10


class _Sum:
    """A contender: the Go program that hashes."""

    def __init__(self, process: Process, size: int, count: int) -> None:
        self._process, self._size, self._count = process, size, count

    def __call__(self) -> float:
        return self._process.ask(self._size, self._count)[0] / 1e3 / self._count


def key(w: Workplace) -> Iterator[Series]:
    import jitcache

    for at, size, n in (("1k", 1 << 10, 4000), ("64k", SIZE, 400)):
        sources = [os.urandom(size // 2).hex() for _ in range(16)]
        loops: list[tuple[str, Callable[[str], Any]]] = [("jitcache_python", lambda s: jitcache.Key(source=s))]
        contenders = []
        try:
            import blake3

            contenders.append(
                Contender(
                    "blake3_python",
                    Loop(lambda b: blake3.blake3(b).digest(), [s.encode() for s in sources], passes=n // 16),
                )
            )
        except ImportError as e:
            w.notes.setdefault("not measured", {})["blake3"] = str(e)
        if not rivals.usable(rivals.FileStream):
            loops.append(("cuda_core", rivals.cuda_core_key()))
        contenders += [Contender(name, Loop(f, sources, passes=n // 16)) for name, f in loops]
        with w.bench() as c, Process(w.ground.sum) as go:
            contenders += [
                Contender("go_blake3", _Sum(go, size, n)),
                Contender("jitcache", Ask(c, "keys", size, n, count=n)),
            ]
            yield Series(at, contenders, w.scale.rounds)


def _trailer(w: Workplace) -> int:
    """Return how many bytes an entry is longer than its payload."""
    first = next((w.entries("64k") / "v1" / "entries").glob("*/*.jce"))
    return first.stat().st_size - SIZE


def put(w: Workplace) -> Iterator[Series]:
    extra = _trailer(w)
    os.sync()
    folders = {"c": w.ready("put"), "c_tmpfs": w.in_memory("put")}
    for at, folder in folders.items():
        if folder is not None:
            yield from _put_c(w, at, folder, extra)
    yield from _put_python(w, w.scale.puts)
    # Last: a lease removes its lock file, and on ext4 without a journal new files
    # are slow for minutes after many were removed.
    for at, folder in folders.items():
        if folder is not None:
            yield from _lease_c(w, at.replace("c", "lease", 1), folder)


def _put_c(w: Workplace, at: str, folder: Path, extra: int) -> Iterator[Series]:
    """All contenders store into the same folders, the floor too: what finding an
    inode costs on ext4 differs from folder to folder, tenfold at times."""
    n = w.scale.puts
    with w.bench() as c:
        c.ask("open", 0, folder, 0, "-")
        before = counters(c)
        ours = {
            "jitcache": AskWorst(c, "put", 0, n, SIZE, SIZE, "-", count=n),
            "jitcache_named": AskWorst(c, "put", 0, n, SIZE, SIZE, "kernel", count=n),
        }
        floor = AskWorst(c, "write", folder / "v1", n, SIZE, extra, count=n)
        yield Series(at, [Contender("c_write", floor), *(Contender(k, a) for k, a in ours.items())], w.scale.rounds)
        done = sum(a.ops for a in ours.values())
        check_rise("put", before, counters(c), puts=done, entries=done)


def _lease_c(w: Workplace, at: str, folder: Path) -> Iterator[Series]:
    n = w.scale.puts
    with w.bench() as c:
        c.ask("open", 0, folder, 0, "-")
        before = counters(c)
        put, lease = AskWorst(c, "put", 0, n, SIZE, SIZE, "-", count=n), AskWorst(c, "lease", 0, n, SIZE, count=n)
        yield Series(at, [Contender("jitcache", put), Contender("jitcache_lease", lease)], w.scale.slow)
        check_rise("lease", before, counters(c), puts=put.ops + lease.ops, compiles=lease.ops)


class _Puts:
    """A contender in Python: new keys every round."""

    def __init__(self, store: Callable[[Any, bytes], Any], key: Callable[[int], Any], count: int, size: int) -> None:
        self._store, self._key, self._count = store, key, count
        self._serial = itertools.count()
        self._data = os.urandom(size)

    def __call__(self) -> float:
        store, data = self._store, self._data
        keys = [self._key(next(self._serial)) for _ in range(self._count)]
        start = time.perf_counter_ns()
        for k in keys:
            store(k, data)
        return (time.perf_counter_ns() - start) / 1e3 / self._count


def _put_python(w: Workplace, n: int) -> Iterator[Series]:
    import jitcache

    with ExitStack() as stack:
        cache = stack.enter_context(jitcache.Cache(w.ready("put-python"), memory_size=0))
        contenders = [Contender("jitcache", _Puts(cache.put, lambda i: jitcache.Key(entry=f"put {i}"), n, SIZE))]
        for kind in (rivals.FileStream, rivals.DiskCache):
            if not rivals.usable(kind):
                rival = kind(w.folder(f"put-{kind.name}"))
                stack.callback(rival.close)
                contenders.append(Contender(kind.name, _Puts(rival.set, rival.key, n, SIZE)))
        yield Series("python", contenders, w.scale.slow)


def put_full(w: Workplace) -> Iterator[Series]:
    """Puts into a cache at its cap and into one with room below it, beside the same into one that is empty."""
    os.sync()
    yield from _put_full(w, "100k", [w.ready(name) for name in _FULL])
    memory = [folder for folder in map(w.in_memory, _FULL) if folder is not None]
    if len(memory) == len(_FULL):
        yield from _put_full(w, "100k_tmpfs", memory)
    yield from _full_rival(w)


_FULL = ("full", "not-full", "room")


def _put_full(w: Workplace, at: str, folders: list[Path]) -> Iterator[Series]:
    n = 400  # several evictions a round
    full, empty, room = folders
    with w.bench() as c:
        for folder in (full, room):
            c.ask("open", 0, folder, 0, "0")
            c.ask("put", 0, w.scale.full, *SMALL, "-")
            size = counters(c)["bytes"]
            c.ask("close", 0)
        # A tenth, or what a quick run puts.
        above = max(size // 10, n * (w.scale.slow + 2) * SMALL[1])
        for place, folder, cap in ((0, full, size), (1, empty, 0), (2, room, size + above)):
            c.ask("open", place, folder, 0, cap)
        places = {"jitcache": 0, "jitcache_empty": 1, "jitcache_room": 2}
        puts = {name: AskWorst(c, "put", place, n, *SMALL, "-", count=n) for name, place in places.items()}
        into_full = puts["jitcache"]
        before, roomy = counters(c), counters(c, 2)
        yield Series(at, [Contender(name, put) for name, put in puts.items()], w.scale.slow)
        after = counters(c)
        check_rise("put into a full cache", before, after, puts=into_full.ops)
        check_rise("put below the cap", roomy, counters(c, 2), puts=puts["jitcache_room"].ops, evictions=0)
        if after["bytes"] > size:
            raise BenchError(f"the full cache holds {after['bytes']} bytes, its cap is {size}")
        w.notes.setdefault("full cache", {})[at] = {
            "entries": before["entries"],
            "cap": size,
            "puts": into_full.ops,
            "evicted": after["evictions"] - before["evictions"],
        }


def _full_rival(w: Workplace) -> Iterator[Series]:
    if rivals.usable(rivals.FileStream):
        return
    folder = w.folder("full-cuda-core")
    data = os.urandom(4096)
    rivals.FileStream(folder).fill(w.scale.full_rival, lambda i: data)
    full = rivals.FileStream(folder, cap=w.scale.full_rival * len(data))
    puts = _Puts(full.set, lambda i: full.key(f"new {i}"), 2, len(data))
    yield Series("10k", [Contender("cuda_core", puts)], 3 if w.scale.slow < 10 else 10, warm=False)
