"""View buffers of a cache without a tier in memory: they are used again, but never while anybody can see them."""

from __future__ import annotations

import ctypes
import functools
import gc
import pickle
import random
import threading
from pathlib import Path
from typing import Any

import jitcache
import pytest
from jitcache import _lookup
from processes import check


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> jitcache.Cache:
    monkeypatch.setattr(_lookup, "_buffers", [])
    return jitcache.Cache(tmp_path / "cache", memory_size=0)


@functools.cache
def payload(n: int) -> bytes:
    size = [0, 1, 100, 5000, 65_536, (256 << 10) - 2000, 256 << 10, (256 << 10) + 1, 400_000][n % 9]
    return random.Random(n).randbytes(size)


def fill(cache: jitcache.Cache, count: int = 27) -> list[jitcache.Key]:
    keys = [jitcache.Key(n=n) for n in range(count)]
    for n, key in enumerate(keys):
        assert cache.put(key, payload(n))
    return keys


HOLDERS: dict[str, Any] = {
    "the view": lambda view: view,
    "a slice": lambda view: view[:],
    "a slice of a slice": lambda view: view[0:][0:],
    "another view": memoryview,
    "a cast": lambda view: view.cast("b").cast("B"),
    "a buffer of pickle": lambda view: pickle.PickleBuffer(view),
    "a circle": lambda view: Holder(view),
}


class Holder:
    """Holds a view in a reference cycle that only the garbage collector finds."""

    def __init__(self, view: memoryview) -> None:
        self.me, self.view = self, view


def seen(held: Any) -> bytes:
    return bytes(held.view if isinstance(held, Holder) else memoryview(held))


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_is_held_keeps_its_bytes(cache: jitcache.Cache, holder: str) -> None:
    keys, random_ = fill(cache), random.Random(holder)
    held: dict[int, Any] = {}
    for _ in range(600):
        n = random_.randrange(len(keys))
        view = cache.view(keys[n])
        assert view.readonly
        assert view.format == "B"
        held[n] = HOLDERS[holder](view)
        del view
        if random_.random() < 0.5:
            held.pop(random_.choice(list(held)))
        for m, what in held.items():
            assert seen(what) == payload(m)
        if random_.random() < 0.05:
            gc.collect()


def test_what_nobody_holds_is_used_again(cache: jitcache.Cache) -> None:
    keys = fill(cache)
    for key in keys * 3:
        cache.view(key)
    assert len(_lookup._buffers) == 1


def test_views_that_are_kept_cost_what_they_show(cache: jitcache.Cache) -> None:
    key = jitcache.Key(n="small")
    cache.put(key, b"x" * 1000)
    views = [cache.view(key) for _ in range(2000)]
    assert len(_lookup._buffers) == 1
    assert len(views) == 2000
    with open("/proc/self/statm") as f:
        assert int(f.read().split()[1]) * 4096 < 400 << 20


def test_threads(cache: jitcache.Cache) -> None:
    keys = fill(cache)
    wrong: list[int] = []

    def work(seed: int) -> None:
        random_ = random.Random(seed)
        held: list[tuple[int, memoryview]] = []
        for _ in range(300):
            n = random_.randrange(len(keys))
            held.append((n, cache.view(keys[n])))
            if len(held) > 4:
                held.pop(random_.randrange(len(held)))
            wrong.extend(m for m, view in held if view != payload(m))

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_forked_child_has_memory_of_its_own(tmp_path: Path) -> None:
    out = check(
        """
        import os, sys, warnings
        import jitcache
        warnings.simplefilter("ignore")
        cache = jitcache.Cache(sys.argv[1], memory_size=0)
        keys = [jitcache.Key(n=n) for n in range(3)]
        for n, key in enumerate(keys):
            cache.put(key, bytes([n]) * 5000)
        view = cache.view(keys[0])
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.read(r, 1)  # until the parent has looked up, into memory that it does not hold any more
            os._exit(0 if view == bytes(5000) and cache.view(keys[2]) == b"\\2" * 5000 else 1)
        del view
        other = cache.view(keys[1])
        os.write(w, b"1")
        print(os.waitpid(pid, 0)[1], other == b"\\1" * 5000)
        """,
        tmp_path / "cache",
    )
    assert out == "0 True\n"


def test_missing_and_replaced(cache: jitcache.Cache) -> None:
    key = jitcache.Key(n="k")
    assert cache.view(key, 7) == 7
    for n in (0, 8, 2, 7, 4):
        cache.put(key, payload(n), replace=True)
        assert cache.view(key) == payload(n)
    cache.remove(key)
    assert cache.view(key) is None
    assert cache.last_miss == "absent"


class Unguarded(ctypes.c_ubyte * ((256 << 10) + 4096)):  # type: ignore[misc]
    """Memory that does not tell whether somebody holds it."""

    def pop(self) -> int:
        return 0

    def append(self, byte: int) -> None:
        pass


def test_without_the_guard_what_is_held_changes(cache: jitcache.Cache) -> None:
    keys = fill(cache)
    buffer = _lookup._Buffer()
    array = Unguarded()
    buffer.data = ctypes.c_void_p(ctypes.addressof(array))
    buffer.start = 0
    buffer.array = array
    _lookup._buffers.append(buffer)
    view = cache.view(keys[2])
    assert bytes(view) == payload(2)
    cache.view(keys[3])
    assert bytes(view) != payload(2)


def test_every_hit_is_counted_once(cache: jitcache.Cache) -> None:
    keys = fill(cache)
    views = [cache.view(key) for _ in range(3) for key in keys]
    assert cache.stats()["total"]["hits_disk"] == len(views) == 81
