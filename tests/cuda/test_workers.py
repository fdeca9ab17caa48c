"""A user has so many workers on a node, whatever caches the processes have that ask for them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import Compiler
from fakes import Gate
from processes import start
from sources import OPTIONS, kernel

#: cuda/worker/slot.go.
MOST = min(max(os.cpu_count() or 1, 8), 64)

ASK = """
    import sys, threading, jitcache
    from jitcache import cuda
    directory, n, source, *options = sys.argv[1:]
    cache = jitcache.Cache(directory)
    def ask(i):
        code = cuda.compile(f"#define N {i}\\n{source}", options=options, cache=cache)
        print(f"{code.hit} {code.refused}\\n", end="", flush=True)  # in one write: others print too
    threads = [threading.Thread(target=ask, args=[i]) for i in range(int(n))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
"""


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Start processes that compile side by side, each with a root of its own."""
    monkeypatch.setenv("JITCACHE_LOCK_DIR", str(tmp_path / "locks"))  # other tests' workers are not this one's
    started: list[subprocess.Popen[str]] = []

    def ask(compiles: int) -> subprocess.Popen[str]:
        root = tmp_path / f"cache-{len(started)}"
        p = start(ASK, root, compiles, kernel(), *OPTIONS, stdout=subprocess.PIPE)
        started.append(p)
        return p

    yield ask
    for p in started:
        p.kill()
        p.communicate()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.01)


@pytest.mark.control("nobound")
def test_two_processes_with_two_roots_share_the_bound(stub: Compiler, gate: Gate, asking: Any) -> None:
    first, second = asking(MOST - 2), asking(MOST - 2)
    until(lambda: len(gate.waiting()) >= MOST)
    time.sleep(0.5)
    assert len(gate.waiting()) == MOST
    # Who is killed gives up what it had, and the other goes on with all of its own.
    first.send_signal(signal.SIGKILL)
    first.wait()
    until(lambda: len(gate.waiting()) == MOST - 2)
    time.sleep(0.5)
    assert len(gate.waiting()) == MOST - 2
    gate.open()
    out, _ = second.communicate(timeout=60)
    assert out.splitlines() == ["False "] * (MOST - 2)
