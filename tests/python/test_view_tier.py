"""The view tier: it returns no old views, and holds no more than the library holds itself."""

from __future__ import annotations

import ctypes
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import jitcache
import pytest
from jitcache._view_tier import ViewTier
from processes import check

OLD, NEW = b"old" * 1000, b"new" * 1000

LOOKUPS: dict[str, Callable[[jitcache.Cache, jitcache.Key], object]] = {
    "get": lambda cache, key: cache.get(key),
    "view": lambda cache, key: cache.view(key),
    "entry": lambda cache, key: cache.entry(key),
    "acquire": lambda cache, key: cache.acquire(key).data,
    "get_or_compile": lambda cache, key: cache.get_or_compile(key, lambda: NEW),
}

CHANGES: dict[str, Callable[[jitcache.Cache, jitcache.Key], object]] = {
    "replace": lambda cache, key: cache.put(key, NEW, replace=True),
    "remove": lambda cache, key: cache.remove(key),
    "clear": lambda cache, key: cache.clear(),
    "clear kind": lambda cache, key: cache.clear("generic"),
}

#: The tier of the library holds the entry, or it is too large for it.
TIERS = {"held": "256Mi", "too large": "2Ki"}


@pytest.fixture(params=TIERS)
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[jitcache.Cache]:
    with jitcache.Cache(tmp_path / "cache", memory_size=TIERS[request.param]) as cache:
        yield cache


@pytest.fixture
def key(cache: jitcache.Cache) -> jitcache.Key:
    key = jitcache.Key(n=1)
    assert cache.put(key, OLD)
    return key


class Meanwhile:
    """The library; one of its lookups takes so long that another thread does something before it returns."""

    def __init__(self, cache: jitcache.Cache, deed: Callable[[], object]) -> None:
        self._lib = cache._lib
        self._deed: Callable[[], object] | None = deed
        cache._lib = self  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._lib, name)
        if name not in ("jitcache_get_data", "jitcache_get_into", "jitcache_acquire") or self._deed is None:
            return function

        def call(*args: object) -> int:
            status: int = function(*args)
            deed, self._deed = self._deed, None
            if deed is not None:
                thread = threading.Thread(target=deed)
                thread.start()
                thread.join()
            return status

        return call

    @property
    def done(self) -> bool:
        return self._deed is None


def check_what_is_there(cache: jitcache.Cache, key: jitcache.Key, change: str) -> None:
    for _ in range(3):  # what one lookup keeps, the next one returns
        if change == "replace":
            assert cache.get(key) == cache.view(key) == cache.entry(key).view == NEW  # type: ignore[union-attr]
            assert cache.acquire(key).data == NEW
        else:
            assert cache.get(key) is cache.view(key) is cache.entry(key) is None
            with cache.acquire(key) as lease:
                assert lease.data is None
    assert cache.get_or_compile(key, lambda: NEW) == NEW


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("lookup", LOOKUPS)
def test_what_changes_during_a_lookup_is_not_kept(
    cache: jitcache.Cache, key: jitcache.Key, lookup: str, change: str
) -> None:
    library = Meanwhile(cache, lambda: CHANGES[change](cache, key))
    LOOKUPS[lookup](cache, key)
    assert library.done
    check_what_is_there(cache, key, change)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("lookup", LOOKUPS)
def test_what_changes_after_a_lookup_is_not_kept(
    cache: jitcache.Cache, key: jitcache.Key, lookup: str, change: str
) -> None:
    for _ in range(2):
        LOOKUPS[lookup](cache, key)
    CHANGES[change](cache, key)
    check_what_is_there(cache, key, change)


@pytest.mark.parametrize("change", CHANGES)
def test_a_lookup_during_a_change_leaves_nothing_old(
    cache: jitcache.Cache, key: jitcache.Key, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread finds the old bytes after the change has begun, and before the library has changed anything."""
    names = {"replace": "jitcache_put", "remove": "jitcache_remove"}
    name = names.get(change, "jitcache_clear")
    function = getattr(cache._lib, name)
    seen: list[bytes | None] = []

    def late(*args: object) -> int:
        thread = threading.Thread(target=lambda: seen.extend(cache.get(key) for _ in range(3)))
        thread.start()
        thread.join()
        status: int = function(*args)
        return status

    monkeypatch.setattr(cache._lib, name, late)
    CHANGES[change](cache, key)
    assert seen == [OLD] * 3
    monkeypatch.setattr(cache._lib, name, function)
    check_what_is_there(cache, key, change)


@pytest.mark.parametrize("change", [*CHANGES, "trim", "verify"])
def test_after_a_change_the_library_is_asked_whatever_it_says_of_its_own_tier(tmp_path: Path, change: str) -> None:
    cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
    cache.put(key, OLD)
    assert cache._views is not None
    cache._views._epoch = ctypes.c_uint64(1)  # as in a library that never drops an entry
    for _ in range(3):
        assert cache.view(key) == OLD
    asked = Meanwhile(cache, lambda: None)
    assert cache.view(key) == OLD
    assert not asked.done, "the view was kept"
    CHANGES.get(change, lambda cache, key: getattr(cache, change)())(cache, key)
    cache.view(key)
    assert asked.done


def run_threads(*works: Callable[[], None]) -> None:
    """Run functions in threads, switching between them as often as Python can; raise what one of them raises."""
    raised: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as e:
            raised.append(e)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(w,)) for w in works]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    if raised:
        raise raised[0]


def test_replacing_is_seen_at_once_by_threads_that_look_all_the_time(tmp_path: Path) -> None:
    """Each value is greater than the last one, and is put before it is announced; no reader may see a smaller one."""
    cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
    said = 0
    cache.put(key, b"0")
    end = time.monotonic() + 2

    def write() -> None:
        nonlocal said
        while time.monotonic() < end:
            cache.put(key, str(said + 1).encode(), replace=True)
            said += 1

    def read(name: str) -> Callable[[], None]:
        def work() -> None:
            while time.monotonic() < end:
                least = said
                found: Any = LOOKUPS[name](cache, key)
                got = int(bytes(found.view if name == "entry" else found))
                assert got >= least, f"{name}: {got} after {least} was stored"

        return work

    run_threads(write, *map(read, LOOKUPS))
    assert said > 20


@pytest.mark.parametrize(
    ("entries", "size", "memory"),
    [pytest.param(2000, 4096, "7Mi", id="the library"), pytest.param(3000, 100, "256Mi", id="Python")],
)
def test_threads_on_more_than_the_tiers_in_memory_hold(tmp_path: Path, entries: int, size: int, memory: str) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=memory)
    keys = [jitcache.Key(n=n) for n in range(entries)]
    for n, key in enumerate(keys):
        cache.put(key, bytes([n % 256]) * size)
    end = time.monotonic() + 3

    def work(seed: int) -> Callable[[], None]:
        def look() -> None:
            random_ = random.Random(seed)
            while time.monotonic() < end:
                n = random_.randrange(entries)
                found: Any = LOOKUPS[random_.choice(["get", "view", "acquire", "get_or_compile"])](cache, keys[n])
                assert bytes(found) == bytes([n % 256]) * size

        return look

    run_threads(*(work(seed) for seed in range(8)))


def test_every_hit_is_counted_once_while_entries_come_and_go(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size="200Ki")
    keys = [jitcache.Key(n=n) for n in range(40)]
    for key in keys:
        cache.put(key, b"x" * 10_000)
    before = cache.stats()["total"]

    def look(seed: int) -> Callable[[], None]:
        def work() -> None:
            random_ = random.Random(seed)
            for i in range(2000):
                cache.view(keys[min(random_.randrange(40), random_.randrange(40), random_.randrange(40))])
                if i % 400 == 0:
                    cache.flush()

        return work

    run_threads(*(look(seed) for seed in range(6)))
    after = cache.stats()["total"]
    assert sum(after[name] - before[name] for name in ("hits_memory", "hits_disk")) == 12_000


#: What a process has resident after an act, beyond what it had before, in MiB. In a process of its own: in that of the
#: tests the allocator has pages of others to give, and gives them back when it likes.
GROWTH = """
import sys, jitcache
def resident():
    return int(open("/proc/self/statm").read().split()[1]) // 256
def put(n):
    key = jitcache.Key(n=n)
    cache.put(key, bytes([n]) * (1 << 20))
    return key
"""

TOO_LARGE = """
cache = jitcache.Cache(sys.argv[1], memory_size="256Ki")
keys = [put(n) for n in range(200)]
cache.view(keys[0])
if len(sys.argv) > 2:
    cache._views._used = lambda key, hits: 0
before = resident()
for key in keys:
    cache.view(key)
print(resident() - before)
"""

MANY = """
cache = jitcache.Cache(sys.argv[1], memory_size="60Mi")
before = resident()
for n in range(200):
    key = put(n)
    if n < 50:
        cache.view(key)
print(resident() - before)
"""


def test_what_is_too_large_for_the_tier_in_memory_is_not_held_by_python_either(tmp_path: Path) -> None:
    assert int(check(GROWTH + TOO_LARGE, tmp_path / "cache")) < 50


def test_what_leaves_the_tier_in_memory_is_not_held_by_python_either(tmp_path: Path) -> None:
    assert int(check(GROWTH + MANY, tmp_path / "cache")) < 90


def test_a_view_that_is_released_takes_no_other_along(cache: jitcache.Cache, key: jitcache.Key) -> None:
    views = [cache.view(key) for _ in range(3)]
    for i in range(3):
        with cache.view(key) as view:
            assert view == OLD
        views[i].release()
        assert all(v == OLD for v in views[i + 1 :])
        assert cache.view(key) == cache.get(key) == cache.acquire(key).data == OLD


def test_signal_handlers_that_use_the_cache_end(tmp_path: Path) -> None:
    """A handler may run between any two steps of a lookup or a change."""
    out = check(
        """
        import faulthandler, signal, sys, time
        import jitcache
        faulthandler.dump_traceback_later(60, exit=True)
        cache = jitcache.Cache(sys.argv[1], memory_size="200Ki")
        keys = [jitcache.Key(n=n) for n in range(40)]
        for key in keys:
            cache.put(key, b"x" * 10_000)
        handled = 0
        def handle(*_):
            global handled
            handled += 1
            for n in range(3):
                assert cache.view(keys[(handled + n) % 40]) in (b"x" * 10_000, b"y" * 10_000)
            cache.put(keys[handled % 40], b"y" * 10_000, replace=True)
            cache.flush() if handled % 10 == 0 else None
            signal.setitimer(signal.ITIMER_REAL, 1e-4)
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 1e-4)
        end = time.monotonic() + 3
        i = 0
        while time.monotonic() < end:
            i += 1
            cache.view(keys[i // 300 % 40])
            if i % 1000 == 0:
                cache.put(keys[i // 1000 % 40], b"x" * 10_000, replace=True)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        print(handled > 100)
        """,
        tmp_path / "cache",
    )
    assert out == "True\n"


def test_closing_while_other_threads_look_up(tmp_path: Path) -> None:
    key = jitcache.Key(n=1)
    for _ in range(30):
        cache = jitcache.Cache(tmp_path / "cache")
        cache.put(key, OLD)
        stop = threading.Event()

        def look(cache: jitcache.Cache = cache, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                assert cache.view(key) in (OLD, None)

        def close(cache: jitcache.Cache = cache, stop: threading.Event = stop) -> None:
            time.sleep(0.01)
            cache.close()
            time.sleep(0.002)
            stop.set()

        run_threads(look, look, close)


def test_a_forked_child_reports_no_hits_of_its_parent(tmp_path: Path) -> None:
    out = check(
        """
        import os, sys, warnings
        import jitcache
        warnings.simplefilter("ignore")
        cache, key = jitcache.Cache(sys.argv[1]), jitcache.Key(n=1)
        cache.put(key, b"x")
        for _ in range(100):
            cache.view(key)
        pid = os.fork()
        if pid == 0:
            for _ in range(10):
                assert cache.view(key) == b"x"
            assert cache.get(jitcache.Key(n=2)) is None  # the counters of a child that needed no directory are lost with it
            cache.close()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print(sum(cache.stats()["total"][name] for name in ("hits_memory", "hits_disk")))
        """,
        tmp_path / "cache",
    )
    assert out == "110\n"


class TestControls:
    """With each mechanism taken out, something must go wrong."""

    def test_kept_by_the_state_of_the_moment_of_keeping(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        keep = ViewTier.keep
        monkeypatch.setattr(ViewTier, "keep", lambda self, _, *found: keep(self, self.begin_lookup(), *found))
        cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
        cache.put(key, OLD)
        Meanwhile(cache, lambda: cache.put(key, NEW, replace=True))
        cache.view(key)
        assert cache.view(key) == OLD

    def test_changes_are_not_noticed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
        cache.put(key, OLD)
        assert cache._views is not None
        cache._views._epoch = ctypes.c_uint64(cache._views._epoch.value)
        for name in ("begin_change", "end_change"):
            monkeypatch.setattr(ViewTier, name, lambda self: None)
        cache.view(key)
        cache.put(key, NEW, replace=True)
        assert cache.view(key) == OLD

    def test_a_change_is_noticed_only_when_it_begins(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ViewTier, "begin_change", ViewTier.start_over)
        monkeypatch.setattr(ViewTier, "end_change", lambda self: None)
        cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
        cache.put(key, OLD)
        assert cache._views is not None
        cache._views._epoch = ctypes.c_uint64(cache._views._epoch.value)
        put = cache._lib.jitcache_put

        def late(*args: object) -> int:
            cache.view(key)
            status: int = put(*args)
            return status

        monkeypatch.setattr(cache._lib, "jitcache_put", late)
        cache.put(key, NEW, replace=True)
        assert cache.view(key) == OLD

    def test_what_the_library_does_not_hold_is_held(self, tmp_path: Path) -> None:
        assert int(check(GROWTH + TOO_LARGE, tmp_path / "cache", "broken")) > 150

    def test_callers_share_a_view(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
        cache.put(key, OLD)
        shared = cache.view(key)
        monkeypatch.setattr(ViewTier, "get", lambda self, key: shared)
        cache.view(key).release()
        with pytest.raises(ValueError, match="released"):
            bytes(cache.view(key))
