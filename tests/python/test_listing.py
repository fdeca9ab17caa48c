"""Listing: a list of any length takes the memory of one entry, and a time proportional to its length.

What a process took, the kernel says when it has ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import jitcache
import pytest

SHORT, LONG = 3_000, 24_000
ATTRIBUTES = {"text": "x" * 2000}
ENTRIES = "import jitcache, sys; print(sum(1 for _ in jitcache.Cache(sys.argv[1]).entries()))"


class Taken(NamedTuple):
    """What a process has used: its peak of memory in bytes, and seconds of a processor."""

    output: bytes
    memory: int
    time: float


# A process inherits the peak of the one that starts it, so a small one starts it.
WITNESS = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(status, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime, file=sys.stderr)
"""


def taken(*command: str) -> Taken:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JITCACHE_MEMORY": "0"}
    p = subprocess.run([sys.executable, "-IS", "-c", WITNESS, sys.executable, *command], env=env, capture_output=True)
    status, memory, time = p.stderr.split()[-3:]
    assert int(status) == 0, p.stderr
    return Taken(p.stdout, int(memory), float(time))


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    made = {}
    for n in (SHORT, LONG):
        made[n] = str(tmp_path_factory.mktemp("listing") / str(n))
        with jitcache.Cache(made[n]) as cache:
            for i in range(n):
                cache.put(jitcache.Key(i=i), b"x", attributes=ATTRIBUTES)
    return made


@pytest.mark.control("JC_HOARDS", rows=["entries"])
@pytest.mark.parametrize("how", ["entries", "ls", "ls -n 0", "ls -json", "ls -last 10"])
def test_list_takes_no_memory_for_its_length(directories: dict[int, str], how: str) -> None:
    def run(n: int) -> Taken:
        if how == "entries":
            return taken("-c", ENTRIES, directories[n])
        return taken("-m", "jitcache", "-directory", directories[n], *how.split())

    short, long = run(SHORT), run(LONG)
    listed = {
        "entries": long.output == b"%d\n" % LONG,
        "ls -last 10": long.output.count(b"\n") == 11,
        "ls": long.output.count(b"\n") == 101,
    }
    assert listed.get(how, len(long.output) > 7 * len(short.output))
    # The attributes alone are 42 MB more. The collector of a busy machine lags behind: once 42 MB were
    # seen, 12 MB with a load of 10, 2 MB without. A list that keeps its entries takes them every time.
    least = long.memory
    for _ in range(4):
        if least - short.memory < 20 << 20:
            break
        least = min(least, run(LONG).memory)
    assert least - short.memory < 20 << 20
    assert long.time < 2 * LONG / SHORT * short.time


@pytest.mark.control("JC_STAYS")
def test_signal_is_answered_while_a_rare_kind_is_looked_for(directories: dict[int, str]) -> None:
    """Python answers between two calls of the library."""
    answered: list[float] = []
    before = signal.signal(signal.SIGPROF, lambda *_: answered.append(time.monotonic()))
    try:
        with jitcache.Cache(directories[LONG], memory_size=0) as cache:
            signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)
            assert list(cache.entries("rare")) == []
            signal.setitimer(signal.ITIMER_PROF, 0)
    finally:
        signal.signal(signal.SIGPROF, before)
    assert len(answered) >= 3
