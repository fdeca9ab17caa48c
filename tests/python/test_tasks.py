"""Coroutines: one compile among them, and the loop goes on."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any, Callable

import jitcache
import pytest
from jitcache import _tasks


def key(n: object = 1) -> jitcache.Key:
    return jitcache.Key(n=n)


def own_threads() -> int:
    return sum(t.name == "jitcache-lease" for t in threading.enumerate())


async def until(done: Callable[[], bool]) -> None:
    for _ in range(500):
        if done():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def settle() -> None:
    end = time.monotonic() + 5
    while own_threads() and time.monotonic() < end:
        time.sleep(0.01)
    assert own_threads() == 0


@pytest.mark.parametrize("made", ["thread", "coroutine", "partial", "lambda"])
def test_of_eight_coroutines_one_compiles(made: str, tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    log = tmp_path / "log"

    def in_thread() -> bytes:
        with log.open("a") as f:
            f.write("x")
        time.sleep(0.2)
        return b"code"

    async def in_loop(_: int = 0) -> bytes:
        with log.open("a") as f:
            f.write("x")
        await asyncio.sleep(0.2)
        return b"code"

    compile: Any = {
        "thread": in_thread,
        "coroutine": in_loop,
        "partial": functools.partial(in_loop, 1),
        "lambda": lambda: in_loop(),
    }[made]

    async def main() -> list[bytes]:
        return await asyncio.gather(*(cache.aget_or_compile(key(), compile) for _ in range(8)))

    assert asyncio.run(main()) == [b"code"] * 8
    assert log.read_text() == "x"
    assert cache.get(key()) == b"code"
    assert not _tasks._running
    settle()


def test_without_the_ring_each_would_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: if each coroutine compiles for itself, as many threads ask."""
    cache = jitcache.Cache(tmp_path / "cache")
    most = []

    def count() -> bytes:
        time.sleep(0.2)
        most.append(own_threads())
        return b"code"

    async def main() -> None:
        await asyncio.gather(*(cache.aget_or_compile(key(n), count) for n in (1, 1, 1, 1)))

    asyncio.run(main())
    assert most == [1]
    most.clear()
    settle()
    monkeypatch.setattr(_tasks, "_running", type("Forgets", (dict,), {"get": lambda self, k: None})())

    async def others() -> None:
        await asyncio.gather(*(cache.aget_or_compile(key(2), count) for _ in range(4)))

    asyncio.run(others())
    assert most == [4]


def test_loop_goes_on_while_another_process_compiles(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    code = """
        import sys, jitcache
        with jitcache.Cache(sys.argv[1]).acquire(jitcache.Key(n=1)) as lease:
            print("holds", flush=True)
            sys.stdin.readline()
            lease.commit(b"theirs")
    """
    other = start(code, tmp_path / "cache")

    async def main() -> tuple[bytes, int]:
        ticks = 0
        task = asyncio.ensure_future(cache.aget_or_compile(key(), lambda: b"ours"))
        began = time.monotonic()
        while time.monotonic() - began < 0.5:
            await asyncio.sleep(0.01)
            ticks += 1
        assert not task.done()
        other.stdin.write("\n")
        other.stdin.flush()
        return await task, ticks

    data, ticks = asyncio.run(main())
    assert data == b"theirs"
    assert ticks > 10  # a blocked loop would have none
    other.communicate(timeout=20)


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    p = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert p.stdout.readline() == "holds\n"
    return p


def test_cancellation_gives_the_lease_up(tmp_path: Path) -> None:
    """Another process gets the lease at once, while this one lives."""
    cache = jitcache.Cache(tmp_path / "cache")

    async def never() -> bytes:
        await asyncio.sleep(60)
        return b""

    async def main() -> None:
        task = asyncio.ensure_future(cache.aget_or_compile(key(), never))
        await until(lambda: own_threads() == 1)
        await asyncio.sleep(0.1)
        assert not cache.acquire(key(), 0).guarded  # it is held
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: own_threads() == 0)
        code = "import sys, jitcache; print(jitcache.Cache(sys.argv[1]).acquire(jitcache.Key(n=1), 0).guarded)"
        p = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, str(tmp_path / "cache"), stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        out, _ = await p.communicate()
        assert out == b"True\n"

    asyncio.run(main())
    settle()


def test_cancellation_ends_a_wait(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    code = """
        import sys, jitcache
        with jitcache.Cache(sys.argv[1]).acquire(jitcache.Key(n=1)) as lease:
            print("holds", flush=True)
            sys.stdin.readline()
    """
    other = start(code, tmp_path / "cache")

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(cache.aget_or_compile(key(), lambda: b"x"), timeout=0.3)

    asyncio.run(main())
    settle()
    other.communicate("\n", timeout=20)


def test_one_that_is_cancelled_does_not_end_the_others(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    async def compile() -> bytes:
        await asyncio.sleep(0.2)
        return b"code"

    async def main() -> bytes:
        first = asyncio.ensure_future(cache.aget_or_compile(key(), compile))
        second = asyncio.ensure_future(cache.aget_or_compile(key(), compile))
        await asyncio.sleep(0.05)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(main()) == b"code"


@pytest.mark.parametrize("in_loop", [False, True])
def test_exception_reaches_all_and_the_next_compiles(in_loop: bool, tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    def bad() -> bytes:
        raise ZeroDivisionError

    async def bad_too() -> bytes:
        raise ZeroDivisionError

    async def main() -> None:
        asked = [cache.aget_or_compile(key(), bad_too if in_loop else bad) for _ in range(3)]
        assert [type(e) for e in await asyncio.gather(*asked, return_exceptions=True)] == [ZeroDivisionError] * 3
        assert await cache.aget_or_compile(key(), lambda: b"good") == b"good"

    asyncio.run(main())


def test_stop_iteration_ends_the_wait_too(tmp_path: Path) -> None:
    def bad() -> bytes:
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(asyncio.wait_for(jitcache.Cache(tmp_path).aget_or_compile(key(), bad), timeout=20))


def test_loop_that_is_closed_in_a_compile_gives_the_lease_up(tmp_path: Path) -> None:
    """In another process, because Python warns of coroutines that were never ended."""
    code = """
        import asyncio, sys, time, jitcache
        cache = jitcache.Cache(sys.argv[1])
        loop = asyncio.new_event_loop()
        begun = []

        def compile():
            begun.append(1)
            return asyncio.sleep(60)

        task = loop.create_task(cache.aget_or_compile(jitcache.Key(n=1), compile))
        while not begun:
            loop.run_until_complete(asyncio.sleep(0.01))
        held = cache.acquire(jitcache.Key(n=1), 0).guarded
        loop.close()
        end = time.monotonic() + 30
        while not (free := cache.acquire(jitcache.Key(n=1), 0).guarded) and time.monotonic() < end:
            time.sleep(0.01)
        print("holds", held, free)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    p = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert p.stdout == "holds False True\n", p.stderr


def test_compile_may_ask_for_others(tmp_path: Path) -> None:
    """However deep: there is no pool of threads that could run out."""
    cache = jitcache.Cache(tmp_path / "cache")

    async def compile(n: int) -> bytes:
        if n == 0:
            return b"end"
        return await cache.aget_or_compile(key(n - 1), lambda: compile(n - 1)) + b"."

    async def main() -> bytes:
        return await asyncio.wait_for(cache.aget_or_compile(key(50), lambda: compile(50)), timeout=30)

    assert asyncio.run(main()) == b"end" + b"." * 50


def test_without_the_library_it_compiles(tmp_path: Path) -> None:
    code = """
        import asyncio, jitcache
        cache = jitcache.Cache()
        async def compile():
            return b"code"
        print("holds", asyncio.run(cache.aget_or_compile(jitcache.Key(n=1), compile)))
    """
    p = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JITCACHE_LIBRARY": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert p.stdout == "holds b'code'\n", p.stderr


def test_coroutine_learns_why_its_result_was_not_stored(tmp_path: Path) -> None:
    """Although another thread has tried to store it."""
    with jitcache.Cache(tmp_path / "cache"):
        pass
    cache = jitcache.Cache(tmp_path / "cache", readonly=True)

    async def main() -> list[str]:
        async def asked(n: int) -> str:
            assert await cache.aget_or_compile(key(n), lambda: b"x") == b"x"
            return cache.last_reason

        return await asyncio.gather(asked(1), asked(1), asked(2))

    assert asyncio.run(main()) == ["read-only"] * 3
    settle()


def test_compile_has_the_context_of_its_caller(tmp_path: Path) -> None:
    """Both in a thread and in the loop."""
    which = contextvars.ContextVar("which", default=b"unset")
    cache = jitcache.Cache(tmp_path / "cache")

    async def compiled() -> bytes:
        return which.get()

    async def main() -> list[bytes]:
        which.set(b"set")
        return [await cache.aget_or_compile(key(n), fn) for n, fn in enumerate((which.get, compiled))]

    assert asyncio.run(main()) == [b"set", b"set"]
    settle()


def test_compiles_that_ask_for_each_other_end(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    async def of_itself() -> bytes:
        return b"outer " + await cache.aget_or_compile(key("itself"), lambda: b"inner")

    async def first() -> bytes:
        await asyncio.sleep(0.05)
        return b"first " + await cache.aget_or_compile(key("second"), second)

    async def second() -> bytes:
        await asyncio.sleep(0.05)
        return b"second " + await cache.aget_or_compile(key("first"), lambda: b"alone")

    async def main() -> None:
        assert await cache.aget_or_compile(key("itself"), of_itself) in (b"outer inner", b"inner")
        both = await asyncio.gather(
            cache.aget_or_compile(key("first"), first), cache.aget_or_compile(key("second"), second)
        )
        assert {text.split()[0] for text in both} <= {b"first", b"second", b"alone"}

    asyncio.run(asyncio.wait_for(main(), 30))
    settle()


def test_compile_that_asks_for_itself_without_end_is_an_error(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")

    async def of_itself() -> bytes:
        return await cache.aget_or_compile(key(), of_itself)

    with pytest.raises(RecursionError, match="ask for each other without end"):
        asyncio.run(asyncio.wait_for(cache.aget_or_compile(key(), of_itself), 60))
    settle()
