"""A forked child has a cache that works. The attacks on it are in make test-all."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import traceback
from pathlib import Path
from typing import Any, Callable

import jitcache
import pytest
from jitcache._fork import ForkLock
from processes import check

# Python 3.12 warns of a fork with threads, and Go has threads.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def in_child(f: object) -> int:
    """Run f in a forked child; return its exit status, or raise if it hangs."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            f()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    raise AssertionError("the child hangs")


_plain = threading.Lock()


@pytest.mark.parametrize(("lock", "free"), [(ForkLock(), True), (lambda: _plain, False)], ids=["ours", "plain"])
def test_lock_that_another_thread_holds_is_free_in_the_child(lock: Callable[[], Any], free: bool) -> None:
    held, end = threading.Event(), threading.Event()

    def hold() -> None:
        with lock():
            held.set()
            end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()

    def child() -> None:
        assert lock().acquire(blocking=False) is free

    try:
        assert in_child(child) == 0
    finally:
        end.set()
        thread.join()


def test_who_forks_while_it_holds_a_lock_gives_it_up_in_both() -> None:
    lock = ForkLock()
    with lock():
        pid = os.fork()
    if pid == 0:
        os._exit(0 if lock().acquire(blocking=False) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert lock().acquire(blocking=False)


def key(n: object) -> jitcache.Key:
    return jitcache.Key(n=n)


@pytest.mark.parametrize("memory", [0, "1Mi"])
def test_child_uses_its_parents_cache(tmp_path: Path, memory: object) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=memory)
    cache.put(key(1), b"from the parent")
    view = cache.view(key(1))
    made_before = key(1)
    cache.get(made_before)

    def child() -> None:
        assert bytes(view) == b"from the parent"
        assert cache.get(made_before) == b"from the parent"
        assert cache.get(key(1)) == b"from the parent"
        assert cache.get_or_compile(key(2), lambda: b"from the child") == b"from the child"
        assert cache.get(key(3)) is None
        assert cache.stats()["entries"] >= 1

    assert in_child(child) == 0
    assert cache.get(key(2)) == b"from the child"


def test_children_of_children(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0)
    cache.put(key(0), b"0")

    def descend(depth: int) -> None:
        assert cache.get(key(depth)) == b"%d" % depth
        assert cache.put(key(depth + 1), b"%d" % (depth + 1))
        if depth < 5:
            assert in_child(lambda: descend(depth + 1)) == 0

    assert in_child(lambda: descend(0)) == 0
    assert cache.get(key(6)) == b"6"


def test_child_that_never_asks_starts_nothing(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    known = key(1)
    cache.put(known, b"x")

    def child() -> None:
        assert len(os.listdir("/proc/self/task")) == 1
        assert cache.get(known) == b"x"  # from memory
        assert len(os.listdir("/proc/self/task")) == 1

    assert in_child(child) == 0


def test_hits_of_the_parent_are_not_counted_by_the_child(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    cache.put(key(1), b"x")
    for _ in range(100):
        cache.view(key(1))

    def child() -> None:
        cache.view(key(1))
        cache.close()

    assert in_child(child) == 0
    cache.close()
    assert jitcache.Cache(tmp_path / "cache").stats()["total"]["hits_memory"] == 101


def test_child_does_not_keep_its_parents_lease(tmp_path: Path) -> None:
    """flock belongs to the open file, which a forked child shares."""
    directory = tmp_path / "cache"
    out = check(
        """
        import os, sys, time, jitcache
        cache = jitcache.Cache(sys.argv[1])
        lease = cache.acquire(jitcache.Key(n=1))
        assert lease.data is None
        if os.fork() == 0:
            os.close(1)
            os.close(2)
            time.sleep(30)   # lives on, and never asks for anything
            os._exit(0)
        print("parent ends", flush=True)
        os._exit(0)          # the parent is gone without giving the lease up
        """,
        directory,
    )
    assert out == "parent ends\n"
    start = time.monotonic()
    assert jitcache.Cache(directory).get_or_compile(key(1), lambda: b"x") == b"x"
    assert time.monotonic() - start < 2


def test_lease_of_the_parent_is_no_lease_in_the_child(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0)
    lease = cache.acquire(key(1))

    def child() -> None:
        assert lease.commit(b"from the child")

    assert in_child(child) == 0
    assert lease.commit(b"from the parent")
    assert cache.get(key(1)) == b"from the child"


def work(args: tuple[str, int]) -> bytes:
    return jitcache.Cache(args[0]).get_or_compile(key(args[1]), lambda: b"code %d" % args[1])


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_pools(tmp_path: Path, method: str) -> None:
    jitcache.Cache(tmp_path / "cache").put(key("warm"), b"x")
    with multiprocessing.get_context(method).Pool(4) as pool:
        jobs = [(str(tmp_path / "cache"), n % 5) for n in range(40)]
        assert pool.map_async(work, jobs).get(timeout=60) == [b"code %d" % (n % 5) for n in range(40)]


def test_child_goes_on_with_a_list_that_its_parent_began(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    for n in range(20):
        cache.put(key(n), b"x")
    want = sorted(key(n).hex for n in range(20))
    entries = cache.entries()
    assert [next(entries)["key"] for _ in range(5)] == want[:5]

    def child() -> None:
        assert [e["key"] for e in entries] == want[5:]

    assert in_child(child) == 0
    assert [e["key"] for e in entries] == want[5:]
