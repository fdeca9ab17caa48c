"""Rows about hits and misses."""

from __future__ import annotations

import ctypes
import hashlib
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

import rivals
from runs import Ask, Calls, Contender, Loop, Process, Series
from workplace import SIZES, Workplace, check_rise, counters


def _keys(at: str, count: int, what: str = "") -> list[Any]:
    """Return the keys that the C program's corpus command makes."""
    import jitcache

    keys = [jitcache.Key(entry=f"{at}{what} {i}") for i in range(count)]
    return keys


def _python_stats(cache: Any) -> dict[str, Any]:
    cache.flush()
    total: dict[str, Any] = cache.stats()["total"]
    return total


def memory_hit_c(w: Workplace) -> Iterator[Series]:
    with w.bench() as c:
        w.corpus(c, w.folder("memory-c"), "64k", "2Gi")
        c.ask("warm", 0)
        n = 20 * w.scale.entries
        before = counters(c)
        get = Ask(c, "get", 0, n, count=n)
        empty = Ask(c, "empty", w.ground.empty, n, count=n)
        yield Series("64k", [Contender("empty_go_call", empty), Contender("jitcache", get)], w.scale.rounds)
        check_rise("memory hit", before, counters(c), hits_memory=get.ops, hits_disk=0)


def memory_hit_view_python(w: Workplace) -> Iterator[Series]:
    import jitcache

    n = w.scale.entries
    with jitcache.Cache(w.entries("64k"), memory_size="2Gi") as cache:
        keys = _keys("64k", n)
        for k in keys:
            cache.view(k)
        version = ctypes.CDLL(str(w.ground.library)).jitcache_abi_version
        version.restype, version.argtypes = ctypes.c_uint32, []
        before = _python_stats(cache)
        view = Loop(cache.view, keys * 5)
        # As many calls in a loop of the same shape.
        empty = Calls(version, 5 * n)
        yield Series("64k", [Contender("empty_ctypes_call", empty), Contender("jitcache", view)], w.scale.rounds)
        # The first stats() made Python forget its views: the warming round asks the library again.
        check_rise("memory hit to a view", before, _python_stats(cache), hits_memory=view.ops, hits_disk=0)


def disk_hit_c(w: Workplace) -> Iterator[Series]:
    for at in SIZES:
        with w.bench() as c:
            w.corpus(c, w.entries(at), at)
            n = w.count(at)
            before = counters(c)
            get, into = Ask(c, "get", 0, n, count=n), Ask(c, "into", 0, n, count=n)
            yield Series(
                at,
                [Contender("c_read", Ask(c, "read", 0, n, count=n)), Contender("jitcache", get), Contender("into", into)],
                w.scale.rounds,
            )
            check_rise(f"disk hit, {at}", before, counters(c), hits_disk=get.ops + into.ops, hits_memory=0)


def python_read(path: str) -> bytes:
    """The floor in Python."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    data = os.read(fd, os.fstat(fd).st_size)
    os.close(fd)
    return data


def _paths(folder: Path, keys: list[Any]) -> list[str]:
    return [f"{folder}/v1/entries/{k.hex[:2]}/{k.hex[2:]}.jce" for k in keys]


class _Opened(NamedTuple):
    """A rival with its entries, and the keys of those."""

    name: str
    get: Callable[[Any], Any]
    keys: list[Any]


def _open_rivals(w: Workplace, row: str, at: str, kinds: list[type[rivals.Rival]], stack: ExitStack) -> list[_Opened]:
    found = []
    for kind in kinds:
        why = rivals.usable(kind)
        if why:
            w.notes.setdefault("not measured", {})[kind.name] = why
            continue
        rival = kind(w.folder(f"{row}-{at}-{kind.name}"))
        stack.callback(rival.close)
        count = w.count(at)
        block = os.urandom(SIZES[at] - 32)
        rival.fill(count, lambda i, block=block: hashlib.sha256(b"%d" % i).digest() + block)  # type: ignore[misc]
        found.append(_Opened(kind.name, rival.get, [rival.key(i) for i in range(count)]))
    return found


# So few that all of a contender's bytes stay in the processor's second cache:
# what is left is what the caches do, without the memory's share.
HOT = 16


def disk_hit_bytes_python(w: Workplace) -> Iterator[Series]:
    import jitcache

    for at in SIZES:
        with ExitStack() as stack:
            folder = w.entries(at)
            cache = stack.enter_context(jitcache.Cache(folder, memory_size=0))
            c = stack.enter_context(w.bench())
            w.corpus(c, folder, at)
            ours = _Opened("jitcache", cache.get, _keys(at, w.count(at)))
            floor = _Opened("python_read", python_read, _paths(folder, ours.keys))
            others = [floor, ours, *_open_rivals(w, "disk", at, rivals.ON_DISK, stack)]
            before = _python_stats(cache)
            done = 0
            for series, count, passes in ((at, w.count(at), 1), (f"{at}_hot", HOT, 20)):
                if at == "1m" and count == HOT:
                    continue  # 16 MB are in no second cache
                loops = {o.name: Loop(o.get, o.keys[:count], passes=passes) for o in others}
                read = Ask(c, "read", 0, count * passes, count=count * passes)
                # The C program goes through all entries: hot it is not.
                first = [Contender("c_read", read)] if passes == 1 else []
                yield Series(series, first + [Contender(name, loop) for name, loop in loops.items()], w.scale.rounds)
                done += loops["jitcache"].ops
            check_rise(f"disk hit to bytes, {at}", before, _python_stats(cache), hits_disk=done, hits_memory=0)


def memory_hit_bytes_python(w: Workplace) -> Iterator[Series]:
    import jitcache

    for at in SIZES:
        with ExitStack() as stack:
            cache = stack.enter_context(jitcache.Cache(w.entries(at), memory_size="2Gi"))
            keys = _keys(at, w.count(at))
            for k in keys:
                cache.get(k)
            get = Loop(cache.get, keys)
            others = [Contender(o.name, Loop(o.get, o.keys)) for o in _open_rivals(w, "memory", at, [rivals.InMemory], stack)]
            before = _python_stats(cache)
            yield Series(at, [Contender("jitcache", get), *others], w.scale.rounds)
            check_rise(f"memory hit to bytes, {at}", before, _python_stats(cache), hits_memory=get.ops, hits_disk=0)


def disk_hit_view_python(w: Workplace) -> Iterator[Series]:
    import jitcache

    for at in SIZES:
        folder = w.entries(at)
        with jitcache.Cache(folder, memory_size=0) as cache:
            keys = _keys(at, w.count(at))
            view = Loop(cache.view, keys)
            floor = Loop(python_read, _paths(folder, keys))
            before = _python_stats(cache)
            yield Series(at, [Contender("python_read", floor), Contender("jitcache", view)], w.scale.rounds)
            check_rise(f"disk hit to a view, {at}", before, _python_stats(cache), hits_disk=view.ops, hits_memory=0)


class _Tails:
    """A contender that says how its times are spread."""

    def __init__(self, process: Process, *words: object) -> None:
        self._process = process
        self._words = words
        self.ops = 0

    def __call__(self) -> dict[str, float]:
        p50, p99, p999, hits = self._process.ask(*self._words)
        self.ops += hits
        return {"p50": p50 / 1e3, "p99": p99 / 1e3, "p999": p999 / 1e3}


def hit_among_threads(w: Workplace) -> Iterator[Series]:
    quick = w.scale.rounds < 10
    window, samples = (150, 60) if quick else (400, 400)
    with w.bench() as c, w.bench() as m:
        w.corpus(c, w.entries("64k"), "64k")
        w.corpus(m, w.folder("memory-threads"), "64k", "2Gi")
        m.ask("warm", 0)
        before = counters(c), counters(m)
        disk, alone = _Tails(c, "tails", 0, 8, window, "get"), _Tails(c, "alone", 0, 4, samples, "get")
        memory, memory_alone = _Tails(m, "tails", 0, 8, window, "get"), _Tails(m, "alone", 0, 4, samples, "get")
        # The same with open+fstat+read+close: what the machine's scheduler alone does.
        read, read_alone = _Tails(c, "tails", 0, 8, window, "read"), _Tails(c, "alone", 0, 4, samples, "read")
        contenders = {
            "disk_8_threads": disk, "disk_1_beside_4": alone, "memory_8_threads": memory,
            "memory_1_beside_4": memory_alone, "c_read_8_threads": read, "c_read_1_beside_4": read_alone,
        }  # fmt: skip
        yield Series("64k", [Contender(name, run) for name, run in contenders.items()], 3 if quick else 9, warm=False)
        check_rise("disk hit among threads", before[0], counters(c), hits_disk=disk.ops + alone.ops)
        check_rise("memory hit among threads", before[1], counters(m), hits_memory=memory.ops + memory_alone.ops)


def miss(w: Workplace) -> Iterator[Series]:
    import jitcache

    folder, n = w.entries("64k"), w.scale.entries
    with w.bench() as c:
        w.corpus(c, folder, "64k")
        before = counters(c)
        ours = Ask(c, "miss", 0, n, count=n)
        yield Series("c", [Contender("c_open", Ask(c, "read_absent", 0, n, count=n)), Contender("jitcache", ours)], w.scale.rounds)
        check_rise("miss", before, counters(c), misses=ours.ops)
    with ExitStack() as stack:
        cache = stack.enter_context(jitcache.Cache(folder, memory_size=0))
        get = Loop(cache.get, _keys("64k", n, "-absent"))
        contenders = [Contender("jitcache", get)]
        for kind in rivals.ON_DISK:
            if not rivals.usable(kind):
                rival = kind(w.folder(f"miss-{kind.name}"))
                stack.callback(rival.close)
                rival.fill(n, lambda i: b"x" * 1024)
                lookup: Callable[[Any], Any] = rival.get
                contenders.append(Contender(kind.name, Loop(lookup, [rival.key(f"absent {i}") for i in range(n)])))
        before = _python_stats(cache)
        yield Series("python", contenders, w.scale.rounds)
        check_rise("miss, Python", before, _python_stats(cache), misses=get.ops)
