"""The helper killed -9 at many moments: of its start, of lookups, claims, compiles and what is sent."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import Callable

import pytest
from processes import check
from remotes import Machine, Redis
from test_fleet import ended, fleet
from test_remote import UNSIGNED, compiled, machine, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: Looks up what the remote has, compiles what it has not, and stores, for a fifth of a second.
PROGRAM = """
import os, sys, time, jitcache
begin, there = int(sys.argv[1]), int(sys.argv[2])
def compiled(n):
    with open(os.environ["WITNESS"], "a") as f:
        f.write(f"{n}\\n")
    time.sleep(0.01)
    return (b"%d " % n) * 2000
def use(n):
    assert cache.get_or_compile(jitcache.Key(source=n), lambda: compiled(n)) == (b"%d " % n) * 2000, "a wrong byte"
with jitcache.Cache() as cache:
    end = time.monotonic() + 0.2
    for n in range(4):
        use(begin + n)
        use((begin + n) % there)
    while time.monotonic() < end:
        n += 1
        use((begin + n) % there)
"""


@pytest.mark.control("noheirs")
@pytest.mark.slow  # as long as a holder may show nothing
def test_helper_that_is_stopped_while_its_program_compiles_costs_one_compile_more(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """However many wait: it is taken for dead, and does no harm when it goes on."""
    machines = [machine(redis.url + UNSIGNED) for _ in range(4)]
    (stopped,) = fleet(machines[:1], ["k"], COMPILE_SECONDS="20")
    end = time.monotonic() + 20
    while not redis.claims():
        assert time.monotonic() < end
        time.sleep(0.01)
    pids = machines[0].helpers()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        ended(fleet(machines[1:], ["k"]), 60)
        print(f"figure stopped_helper {time.monotonic() - began:.1f} s until the others have it")
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert compiled(machines[0]).count("k") == 1 + (stopped.poll() is not None)
    ended([stopped])
    assert compiled(machines[0]) == ["k", "k"], "the one that was stopped, and one of those that waited"
    late = machine(redis.url + UNSIGNED)
    ended(fleet([late], ["k"]))
    assert compiled(late) == ["k", "k"]


#: So many keys the remote has at first.
THERE = 400
#: How often it is killed, the moments spread over a quarter of a second.
KILLS = int(os.environ.get("KILLS", "10"))


@pytest.mark.control("nooutbox")
def test_helper_that_is_killed_at_any_moment_costs_no_more_than_hits(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """No wrong byte, no exception, no hang; nothing is compiled twice, and all that was stored is sent in the end."""
    one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
    check(
        f"""
        import jitcache
        with jitcache.Cache() as cache:
            for n in range({THERE}):
                cache.put(jitcache.Key(source=n), (b"%d " % n) * 2000)
        """,
        env=one.env,
    )
    one.sent()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **two.env}
    killed, longest = 0, 0.0
    for n in range(KILLS):
        new = THERE + 4 * n  # and three more, which no other process asks for
        began = time.monotonic()
        p = subprocess.Popen([sys.executable, "-c", PROGRAM, str(new), str(THERE)], env=env, stderr=subprocess.PIPE)
        pids: list[int] = []
        while p.poll() is None and not (pids := two.helpers()):
            pass
        time.sleep(0.25 * n / KILLS)
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        _, err = p.communicate(timeout=60)
        assert p.returncode == 0, err.decode()
        longest = max(longest, time.monotonic() - began)
    done = collections.Counter(compiled(two))
    own = [k for k in done if int(k) >= THERE]
    print(f"figure helpers_killed {killed} kills")
    print(f"figure entries_compiled_again {len(done) - len(own)} of {THERE} that were there")
    print(f"figure longest_run_with_a_killed_helper {longest:.2f} s")
    assert killed > KILLS * 0.9
    assert len(own) == 4 * KILLS
    assert max(done.values()) == 1
    check("import jitcache; jitcache.Cache().put(jitcache.Key(last=1), b'x')", env=two.env)
    two.sent(60)
    assert len(redis.names()) == THERE + 4 * KILLS + 1
