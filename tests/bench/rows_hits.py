"""Rows about hits and misses."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, NamedTuple

import rivals
import xxhash
from runs import Ask, Calls, Contender, Loop, Series, Turns
from workplace import SIZES, Workplace, check_rise, counters


def _keys(at: str, count: int, what: str = "") -> list[Any]:
    """Return the keys that the C program's corpus command makes."""
    import jitcache

    return [jitcache.Key(entry=f"{at}{what} {i}") for i in range(count)]


def _python_stats(cache: Any) -> dict[str, Any]:
    cache.flush()
    total: dict[str, Any] = cache.stats()["total"]
    return total


def memory_hit_c(w: Workplace) -> Iterator[Series]:
    """By turns in several processes: where the entries come to lie in memory is
    chance, and makes a fifth of so short a time."""
    n = 20 * w.scale.entries
    folder = w.folder("memory-c")
    with ExitStack() as stack:
        processes = [stack.enter_context(w.bench()) for _ in range(5)]
        for c in processes:
            w.corpus(c, folder, "64k", "2Gi")
            c.ask("warm", 0)
        before = [counters(c) for c in processes][-1]
        gets = [Ask(c, "get", 0, n, count=n) for c in processes]
        empties = [Ask(c, "empty", w.ground.empty, n, count=n) for c in processes]
        contenders = [Contender("empty_go_call", Turns(empties)), Contender("jitcache", Turns(gets))]
        yield Series("64k", contenders, w.scale.rounds)
        after = [counters(c) for c in processes][-1]
        check_rise("memory hit", before, after, hits_memory=sum(g.ops for g in gets), hits_disk=0)


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


# So few that all of a contender's bytes stay in the processor's second cache:
# what is left is what the caches do, without the memory's share.
HOT = 16
PASSES = 100  # in a turn: the first has to fetch what the others' turns pushed out
HOT_SIZES = ("24k", "64k")


def disk_hit_c(w: Workplace) -> Iterator[Series]:
    for at in (*SIZES, *(f"{at}_hot" for at in HOT_SIZES)):
        size, _, hot = at.partition("_")
        n = HOT if hot else w.count(size)
        times = PASSES * HOT if hot else n
        with w.bench() as c:
            w.corpus(c, w.entries(size), size, count=n)
            before = counters(c)
            get, into = Ask(c, "get", 0, times, count=times), Ask(c, "into", 0, times, count=times)
            floor = Ask(c, "read", 0, times, count=times)
            contenders = [Contender("c_read", floor), Contender("jitcache", get), Contender("into", into)]
            yield Series(at, contenders, w.scale.rounds)
            check_rise(f"disk hit, {at}", before, counters(c), hits_disk=get.ops + into.ops, hits_memory=0)


def python_read(path: str) -> bytes:
    """The floor in Python."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    data = os.read(fd, os.fstat(fd).st_size)
    os.close(fd)
    return data


def python_verified(path: str) -> bytes:
    """The same, and a checksum of what was read: the least that a cache which verifies can do."""
    data = python_read(path)
    xxhash.xxh3_64_intdigest(data)
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


def disk_hit_bytes_python(w: Workplace) -> Iterator[Series]:
    import jitcache

    for at in SIZES:
        with ExitStack() as stack:
            folder = w.entries(at)
            cache = stack.enter_context(jitcache.Cache(folder, memory_size=0))
            ours = _Opened("jitcache", cache.get, _keys(at, w.count(at)))
            floor = _Opened("python_read", python_read, _paths(folder, ours.keys))
            verified = _Opened("python_verified", python_verified, floor.keys)
            others = [floor, verified, ours, *_open_rivals(w, "disk", at, rivals.ON_DISK, stack)]
            before = _python_stats(cache)
            done = 0
            for series in (at, f"{at}_hot") if at in HOT_SIZES else (at,):
                count, passes = (w.count(at), 1) if series == at else (HOT, PASSES)
                loops = {o.name: Loop(o.get, o.keys[:count], passes=passes) for o in others}
                with w.bench() as c:
                    w.corpus(c, folder, at, count=count)
                    read = Ask(c, "read", 0, count * passes, count=count * passes)
                    contenders = [Contender("c_read", read), *(Contender(name, loop) for name, loop in loops.items())]
                    yield Series(series, contenders, w.scale.rounds)
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
            others = [
                Contender(o.name, Loop(o.get, o.keys)) for o in _open_rivals(w, "memory", at, [rivals.InMemory], stack)
            ]
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


def miss(w: Workplace) -> Iterator[Series]:
    import jitcache

    folder, n = w.entries("64k"), w.scale.entries
    with w.bench() as c:
        w.corpus(c, folder, "64k")
        before = counters(c)
        ours = Ask(c, "miss", 0, n, count=n)
        yield Series(
            "c",
            [Contender("c_open", Ask(c, "read_absent", 0, n, count=n)), Contender("jitcache", ours)],
            w.scale.rounds,
        )
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
