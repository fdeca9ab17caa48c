"""Leases: one compile, however many ask."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import threading
import time
from pathlib import Path

import jitcache
import pytest
from processes import start as run


def key(n: object = 1) -> jitcache.Key:
    return jitcache.Key(n=n)


@pytest.mark.control("nolease")
def test_one_of_many_threads_compiles(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    log = tmp_path / "log"
    barrier = threading.Barrier(8)
    results = []

    def compile() -> bytes:
        with open(log, "a") as f:
            f.write("x\n")
        time.sleep(0.2)
        return b"code"

    def ask() -> None:
        barrier.wait()
        results.append(cache.get_or_compile(key(), compile))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [b"code"] * 8
    assert log.read_text() == "x\n"


@pytest.mark.control("nolease")
def test_one_of_many_processes_compiles(tmp_path: Path) -> None:
    code = """
        import sys, time, jitcache
        cache = jitcache.Cache(sys.argv[1])
        def compile():
            with open(sys.argv[2], "a") as f:
                f.write("x\\n")
            time.sleep(0.3)
            return b"code"
        print("ready", flush=True)
        sys.stdin.readline()
        assert cache.get_or_compile(jitcache.Key(n=1), compile) == b"code"
    """
    log = tmp_path / "log"
    processes = [
        run(code, str(tmp_path / "cache"), str(log), stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(6)
    ]
    for p in processes:
        assert p.stdout.readline() == "ready\n"
    for p in processes:
        p.stdin.write("go\n")
        p.stdin.flush()
    for p in processes:
        p.communicate(timeout=60)
        assert p.returncode == 0
    assert log.read_text() == "x\n"


def test_what_the_compiler_raises_reaches_the_caller(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    class Refused(Exception):
        pass

    error = Refused("line 1: no")

    def fail() -> bytes:
        raise error

    for _ in range(2):
        with pytest.raises(Refused) as caught:
            cache.get_or_compile(key(), fail)
        assert caught.value is error
    # The lease was released: the next one compiles at once.
    start = time.monotonic()
    assert cache.get_or_compile(key(), lambda: b"code") == b"code"
    assert time.monotonic() - start < 5


def test_lease_in_with(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    with cache.acquire(key()) as lease:
        assert lease.data is None
        assert not lease.hit
        assert lease.commit(bytearray(b"code"), attributes={"a": 1})
        assert lease.data == b"code"
        assert lease.stored
        with pytest.raises(ValueError, match="already"):
            lease.commit(b"again")
    with cache.acquire(key()) as lease:
        assert lease.data == b"code"
        assert lease.hit
        with pytest.raises(ValueError, match="nothing to commit"):
            lease.commit(b"again")
    assert cache.entry(key()).attributes == {"a": 1}


def test_lease_that_is_left_goes_to_the_next(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    with cache.acquire(key()) as lease:
        assert lease.data is None
    with pytest.raises(RuntimeError), cache.acquire(key()):
        raise RuntimeError
    dropped = cache.acquire(key())
    del dropped
    start = time.monotonic()
    with cache.acquire(key()) as lease:
        assert lease.data is None
        lease.commit(b"code")
    assert time.monotonic() - start < 5


def test_timeout_lets_the_caller_compile(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    held = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with cache.acquire(key()):
            held.set()
            done.wait()

    t = threading.Thread(target=hold)
    t.start()
    held.wait()
    try:
        for timeout in (0, 0.3):
            start = time.monotonic()
            with cache.acquire(key(), timeout=timeout) as lease:
                assert lease.data is None
            assert timeout <= time.monotonic() - start < timeout + 5
    finally:
        done.set()
        t.join()


def test_waiter_that_was_stopped_waits_on(tmp_path: Path) -> None:
    """A wait goes on until the caller's timeout, even if one poll of the lease takes longer."""
    waiter = """
        import sys, jitcache
        print("ready", flush=True)
        with jitcache.Cache(sys.argv[1]).acquire(jitcache.Key(n=1), timeout=60) as lease:
            print(lease.data, flush=True)
    """
    with jitcache.Cache(tmp_path / "cache") as cache, cache.acquire(key()) as lease:
        p = run(waiter, tmp_path / "cache", stdout=subprocess.PIPE)
        assert p.stdout is not None
        assert p.stdout.readline() == "ready\n"
        for _ in range(4):
            time.sleep(0.15)
            p.send_signal(signal.SIGSTOP)
            time.sleep(0.25)
            p.send_signal(signal.SIGCONT)
        time.sleep(0.3)
        lease.commit(b"code")
    assert p.communicate(timeout=60)[0] == "b'code'\n"


def test_thread_that_holds_a_lease_never_waits(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    def outer() -> bytes:
        return cache.get_or_compile(key(1), lambda: b"inner") + cache.get_or_compile(key(2), lambda: b"other")

    start = time.monotonic()
    assert cache.get_or_compile(key(1), outer) == b"innerother"
    assert time.monotonic() - start < 5


def test_two_keys_in_opposite_order(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    barrier = threading.Barrier(2)

    def nested(first: int, second: int) -> None:
        def outer() -> bytes:
            barrier.wait(timeout=10)
            return cache.get_or_compile(key(second), lambda: b"x")

        cache.get_or_compile(key(first), outer)

    threads = [threading.Thread(target=nested, args=a) for a in ((1, 2), (2, 1))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(timeout=20)
        assert not t.is_alive()


def test_tasks_on_one_thread(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    async def task(n: int) -> bytes:
        with cache.acquire(key(1)) as lease:
            if lease.data is None:
                await asyncio.sleep(0.05)  # another task asks for the same
                lease.commit(b"code")
            return lease.data

    async def main() -> list[bytes]:
        return await asyncio.wait_for(asyncio.gather(*(task(n) for n in range(4))), timeout=20)

    assert asyncio.run(main()) == [b"code"] * 4


@pytest.mark.control("nolease")
def test_of_threads_that_coroutines_ask_in_one_compiles(tmp_path: Path) -> None:
    """Coroutines of one loop are one thread, which never waits: each compiles."""
    cache = jitcache.Cache(tmp_path / "cache")
    compiles = []

    def compile() -> bytes:
        compiles.append(1)
        time.sleep(0.2)
        return b"code"

    async def on_the_loop() -> bytes:
        with cache.acquire(key("loop")) as lease:
            if lease.data is None:
                compiles.append(1)
                await asyncio.sleep(0.05)
                lease.commit(b"code")
            return lease.data

    async def in_a_thread() -> bytes:
        return await asyncio.to_thread(cache.get_or_compile, key("thread"), compile)

    async def main(task: object) -> list[bytes]:
        return await asyncio.gather(*(task() for _ in range(8)))

    counts = []
    for task in (on_the_loop, in_a_thread):
        compiles.clear()
        assert asyncio.run(main(task)) == [b"code"] * 8
        counts.append(len(compiles))
    assert counts == [8, 1]


def test_ctrl_c_works_in_a_wait(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    waiter = """
        import sys, time, jitcache
        cache = jitcache.Cache(sys.argv[1])
        print("waiting", flush=True)
        try:
            cache.get_or_compile(jitcache.Key(n=1), lambda: b"mine")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
            # The cache goes on working.
            assert cache.get_or_compile(jitcache.Key(n=2), lambda: b"x") == b"x"
    """
    with cache.acquire(key()):
        p = run(waiter, str(tmp_path / "cache"), stdout=subprocess.PIPE)
        assert p.stdout.readline() == "waiting\n"
        time.sleep(0.5)
        sent = time.monotonic()
        p.send_signal(signal.SIGINT)
        word, when = p.stdout.readline().split()
        assert word == "interrupted"
        assert float(when) - sent < 2  # ten times the 200 ms that are promised
        p.communicate(timeout=30)
        assert p.returncode == 0


def test_lease_of_a_killed_process_is_free(tmp_path: Path) -> None:
    holder = """
        import sys, time, jitcache
        with jitcache.Cache(sys.argv[1]).acquire(jitcache.Key(n=1)) as lease:
            assert lease.data is None
            print("held", flush=True)
            time.sleep(60)
    """
    p = run(holder, str(tmp_path / "cache"), stdout=subprocess.PIPE)
    assert p.stdout.readline() == "held\n"
    p.kill()
    p.wait()
    p.stdout.close()
    start = time.monotonic()
    assert jitcache.Cache(tmp_path / "cache").get_or_compile(key(), lambda: b"x") == b"x"
    assert time.monotonic() - start < 2  # ten times 200 ms


def test_entry_or_compile_gives_an_entry_whatever_comes_of_it(tmp_path: Path) -> None:
    for more in ({}, {"memory_size": 0}, {"max_size": 10, "memory_size": 0}, {"readonly": True}):
        cache = jitcache.Cache(tmp_path / repr(more), **more)
        for _ in range(2):
            with cache.entry_or_compile(key(), lambda: b"code", attributes={"a": 1}, kind="native") as entry:
                assert bytes(entry) == b"code"
                assert (entry.attributes, entry.kind) == ({"a": 1}, "native")
                assert Path(entry.path).read_bytes() == b"code"


def test_lease_entry(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    with cache.acquire(key()) as lease:
        with pytest.raises(ValueError, match="nothing"):
            lease.entry()
        lease.commit(b"code")
        assert bytes(lease.entry()) == b"code"
    for _ in range(2):
        with cache.acquire(key()) as lease:
            assert bytes(lease.entry()) == b"code"
        cache.view(key())


def test_lease_says_whether_it_is_the_only_one(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    seen = []

    def ask(timeout: float) -> None:
        with cache.acquire(key(), timeout) as lease:
            seen.append((lease.hit, lease.guarded))

    with cache.acquire(key()) as mine:
        assert mine.guarded
        for timeout in (0, 0.2):
            thread = threading.Thread(target=ask, args=(timeout,))
            thread.start()
            thread.join()
        mine.commit(b"code")
    ask(0)
    assert seen == [(False, False), (False, False), (True, False)]
