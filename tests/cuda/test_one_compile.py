"""However many processes ask at once, NVRTC compiles once."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Compiler
from processes import start
from sources import OPTIONS, kernel

ASK = """
    import sys, time, jitcache
    from jitcache import cuda
    directory, source, *options = sys.argv[1:]
    cache = jitcache.Cache(directory)
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        code = cuda.compile(source, options=options, cache=cache)
        print(code.hit, code.code.hex(), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        print(cuda.compile(source + "// another", options=options, cache=cache).hit, flush=True)
"""


def ready(tmp_path: Path, **env: str) -> subprocess.Popen:
    """Start a process that will ask."""
    p = start(ASK, tmp_path / "cache", kernel(), *OPTIONS, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert p.stdout.readline() == "ready\n"
    return p


def go(p: subprocess.Popen) -> None:
    p.stdin.write("go\n")
    p.stdin.flush()


def answer(p: subprocess.Popen) -> list[str]:
    out = p.communicate(timeout=60)[0]
    assert p.returncode == 0
    return out.split()


@pytest.fixture
def compiling(stub: Compiler, gate: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A process that is in its compile, and stays there."""
    p = ready(tmp_path)
    monkeypatch.delenv("STUBNVRTC_GATE")
    go(p)
    while stub.compiles == 0:
        assert p.poll() is None
        time.sleep(0.01)
    yield p
    p.kill()
    p.communicate()


@pytest.mark.control("nolease", rows=["stub"])
def test_one_of_four_processes_compiles(compiler: Compiler, tmp_path: Path) -> None:
    processes = [ready(tmp_path, STUBNVRTC_SLEEP_MS="500") for _ in range(4)]
    for p in processes:
        go(p)
    answers = [answer(p) for p in processes]
    assert compiler.compiles == 1
    assert sorted(hit for hit, _ in answers) == ["False", "True", "True", "True"]
    assert len({code for _, code in answers}) == 1


def test_next_takes_over_from_a_killed_process(stub: Compiler, compiling: subprocess.Popen, tmp_path: Path) -> None:
    waiter = ready(tmp_path)
    go(waiter)
    time.sleep(0.3)
    assert stub.compiles == 1
    compiling.send_signal(signal.SIGKILL)
    compiling.wait()
    since = time.monotonic()
    assert answer(waiter)[0] == "False"
    assert time.monotonic() - since < 5  # ten times what it takes, and more
    assert stub.compiles == 2
    last = ready(tmp_path)
    go(last)
    assert answer(last)[0] == "True"


def test_ctrl_c_ends_a_wait_for_another_process(stub: Compiler, compiling: subprocess.Popen, tmp_path: Path) -> None:
    waiter = ready(tmp_path)
    go(waiter)
    time.sleep(0.5)
    assert stub.compiles == 1
    since = time.monotonic()
    waiter.send_signal(signal.SIGINT)
    assert waiter.stdout.readline() == "interrupted\n"
    assert time.monotonic() - since < 2  # ten times the 200 ms that are promised
    assert answer(waiter) == ["False"]  # and it goes on working
    assert compiling.poll() is None


def test_other_sources_do_not_wait(stub: Compiler, compiling: subprocess.Popen, tmp_path: Path) -> None:
    p = start(ASK, tmp_path / "cache", kernel(2), *OPTIONS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    go(p)
    assert answer(p)[:2] == ["ready", "False"]
    assert compiling.poll() is None
