"""Python's own use of signals works with the library in the process."""

from __future__ import annotations

import os
import signal
import statistics
from pathlib import Path

import pytest
from processes import check, run

# argv: the cache, and whether faulthandler is enabled before or after loading.
SET_UP = """
    import ctypes, faulthandler, os, signal, sys, threading, time
    import jitcache

    def enable():
        faulthandler.enable()
        faulthandler.register(signal.SIGUSR1, all_threads=True)

    if sys.argv[2] == "before":
        enable()
    cache = jitcache.Cache(sys.argv[1], memory_size=0)
    known = jitcache.Key(n=1)
    cache.put(known, b"known")
    if sys.argv[2] == "after":
        enable()
"""

CRASH = (
    SET_UP
    + """
    def crash_here():
        cache.get(known)
        ctypes.string_at(0)

    if sys.argv[3] == "thread":
        thread = threading.Thread(target=crash_here)
        thread.start()
        thread.join()
    else:
        crash_here()
"""
)

REQUEST = (
    SET_UP
    + """
    stop = False

    def look_up_here():
        while not stop:
            assert cache.get(known) == b"known"

    threads = [threading.Thread(target=look_up_here) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.005)
    stop = True
    for thread in threads:
        thread.join()
    print("goes on")
"""
)


@pytest.mark.parametrize("where", ["main", "thread"])
@pytest.mark.parametrize("order", ["before", "after"])
def test_faulthandler_prints_at_a_crash(tmp_path: Path, order: str, where: str) -> None:
    p = run(CRASH, tmp_path / "cache", order, where)
    assert p.returncode == -signal.SIGSEGV, p.stderr
    assert "Fatal Python error: Segmentation fault" in p.stderr
    assert "in crash_here" in p.stderr


@pytest.mark.parametrize("order", ["before", "after"])
def test_faulthandler_prints_on_request(tmp_path: Path, order: str) -> None:
    p = run(REQUEST, tmp_path / "cache", order)
    assert (p.returncode, p.stdout) == (0, "goes on\n"), p.stderr
    assert p.stderr.count("Current thread") + p.stderr.count("most recent call first") > 20
    assert "in look_up_here" in p.stderr


@pytest.mark.control("longslice")
def test_ctrl_c_ends_a_wait(tmp_path: Path, times: int) -> None:
    """Promised: within 200 ms. Fails at ten times that."""
    code = """
        import os, signal, sys, threading, time
        import jitcache

        cache = jitcache.Cache(sys.argv[1])
        got = threading.Event()
        lease = []

        def hold():
            lease.append(cache.acquire(jitcache.Key(n=2)))
            got.set()
            time.sleep(1000)

        threading.Thread(target=hold, daemon=True).start()
        assert got.wait(10)
        sent = []

        def press():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        for n in range(int(sys.argv[2])):
            threading.Timer(0.05 + 0.013 * (n % 8), press).start()
            try:
                cache.acquire(jitcache.Key(n=2))
                print("not interrupted")
            except KeyboardInterrupt:
                print(time.monotonic() - sent[-1])
    """
    took = [float(line) for line in check(code, tmp_path / "cache", min(times, 40)).splitlines()]
    figures = os.environ.get("GUEST_FIGURES")
    if figures:
        with open(figures, "a") as f:
            f.write(f"figure ctrl_c_median {statistics.median(took) * 1e3:.0f} ms\n")
            f.write(f"figure ctrl_c_max {max(took) * 1e3:.0f} ms\n")
    assert len(took) == min(times, 40)
    assert max(took) < 2, took
