"""Fleets: one compile for all machines, by claims, also when machines that have a claim die."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
from remotes import Machine, Redis
from test_remote import UNSIGNED, compiled, machine, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: How many machines there are, and keys, 50 at most. make soak has 200 machines.
COUNT = int(os.environ.get("FLEET", "8"))
KEYS = [f"k{n}" for n in range(min(COUNT, 50))]

#: Between two looks at a file: hundreds of processes that look all the time leave nobody else a processor.
LOOK = str(COUNT / 800)

#: What a machine of a fleet does: it compiles its arguments in an order of its own. The witness is a folder of files.
FLEET = """
import os, random, sys, time, jitcache
names, look = sys.argv[1:], float(os.environ["LOOK"])
random.Random(os.getpid()).shuffle(names)
def compiled(n):
    time.sleep(float(os.environ.get("COMPILE_SECONDS", "0.2")))
    with open(os.environ["WITNESS"], "a") as f:
        f.write(n + "\\n")
    return ("code of " + n).encode() * 1000
with jitcache.Cache() as cache:
    while True:  # until the helper runs, and has asked
        cache.get(jitcache.Key(source="nothing"))
        if cache.last_miss == "absent":
            break
        time.sleep(0.1)
    open(os.environ["WITNESS"] + ".ready", "a").write("x")
    while not os.path.exists(os.environ["WITNESS"] + ".go"):
        time.sleep(look)
    for n in names:
        got = cache.get_or_compile(jitcache.Key(source=n).named(n), lambda: compiled(n), kind="cubin")
        assert got == ("code of " + n).encode() * 1000
"""


def fleet(machines: list[Machine], keys: list[str], program: str = FLEET, **env: str) -> list[subprocess.Popen[bytes]]:
    """Start a process on each machine that compiles all keys. They begin together, when the helpers run."""
    path, witness = os.pathsep.join(sys.path), machines[0].witness
    ready, go = witness.with_name("witness.ready"), witness.with_name("witness.go")
    ready.write_text("")
    go.unlink(missing_ok=True)
    words, more = [sys.executable, "-c", program, *keys], {"PYTHONPATH": path, "LOOK": LOOK, **env}
    processes = [m.start(*words, **more) for m in machines]
    end = time.monotonic() + 120 + COUNT
    while len(ready.read_text()) < len(machines):
        assert time.monotonic() < end, "not all machines are ready"
        time.sleep(0.01)
    go.write_text("")
    return processes


def ended(processes: list[subprocess.Popen[bytes]], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    try:
        for p in processes:
            assert p.wait(timeout=max(end - time.monotonic(), 1)) == 0
    finally:
        for p in processes:
            p.kill()
            p.wait()


@pytest.mark.control("noclaims", rows=["file"])
@pytest.mark.parametrize("engine", ["redis", "file"])
def test_fleet_compiles_each_key_once(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, engine: str
) -> None:
    """Machines with a directory and a helper each, which start together."""
    (tmp_path / "shared").mkdir()
    url = redis.url if engine == "redis" else f"file://{tmp_path}/shared"
    machines = [machine(url + UNSIGNED) for _ in range(COUNT)]
    ended(fleet(machines, KEYS))
    print(f"figure fleet_by_{engine} {len(compiled(machines[0]))} compiles of {len(KEYS)} keys by {COUNT} machines")
    assert sorted(compiled(machines[0])) == sorted(KEYS)
    # Nothing is left behind but entries, and pulses for a moment.
    if engine == "redis":
        end = time.monotonic() + 20
        while time.monotonic() < end and redis.claims():
            time.sleep(0.05)
        assert all(n.endswith("-alive") or n in redis.names() for n in redis.all())


def test_machine_that_dies_while_it_compiles_is_noticed_within_ten_seconds(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """Both the program and the helper die."""
    one, two = machine(redis.url + UNSIGNED), machine(redis.url + UNSIGNED)
    (dying,) = fleet([one], ["k"], COMPILE_SECONDS="600")
    end = time.monotonic() + 20
    while not redis.claims():
        assert time.monotonic() < end
        time.sleep(0.01)
    (waiting,) = fleet([two], ["k"])
    time.sleep(1)
    assert waiting.poll() is None
    assert compiled(one) == []
    for pid in one.helpers():
        os.kill(pid, signal.SIGKILL)
    dying.kill()
    dying.wait()
    began = time.monotonic()
    ended([waiting])
    assert compiled(two) == ["k"]
    assert time.monotonic() - began < 10 + 1


def test_program_that_dies_while_it_compiles_is_noticed_at_once(machine: Callable[..., Machine], redis: Redis) -> None:
    """Also if a child that it has forked has all of its descriptors."""
    one, two = machine(redis.url + UNSIGNED), machine(redis.url + UNSIGNED)
    forks = FLEET.replace(
        "    time.sleep(float",
        "    if os.fork() == 0:\n        time.sleep(30)\n        os._exit(0)\n    time.sleep(float",
    )
    (dying,) = fleet([one], ["k"], forks, COMPILE_SECONDS="600")
    end = time.monotonic() + 20
    while not redis.claims():
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.3)
    dying.kill()
    dying.wait()
    began = time.monotonic()
    ended(fleet([two], ["k"]))
    assert compiled(two) == ["k"]
    assert time.monotonic() - began < 6


def test_machine_that_takes_too_long_is_waited_for_as_long_as_is_said(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    one, two = machine(redis.url + UNSIGNED), machine(redis.url + UNSIGNED, JITCACHE_REMOTE_WAIT="2s")
    (slow,) = fleet([one], ["k"], COMPILE_SECONDS="600")
    end = time.monotonic() + 20
    while not redis.claims():
        assert time.monotonic() < end
        time.sleep(0.01)
    began = time.monotonic()
    ended(fleet([two], ["k"]))
    assert compiled(two) == ["k"]
    assert 2 < time.monotonic() - began < 10
    slow.kill()
    slow.wait()


def test_fleet_whose_machines_are_killed_compiles_again_what_they_held(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """Program and helper die at once: each death costs the others one compile at most."""
    machines = [machine(redis.url + UNSIGNED) for _ in range(COUNT)]
    processes = fleet(machines, KEYS)
    end = time.monotonic() + 60
    while not redis.claims():
        assert time.monotonic() < end
        time.sleep(0.01)
    kills = max(COUNT // 10, 2)
    for n in random.sample(range(COUNT), kills):
        for pid in machines[n].helpers():
            os.kill(pid, signal.SIGKILL)
        processes[n].kill()
        processes[n].wait()
        time.sleep(0.1)
    ended([p for p in processes if p.returncode is None])
    done = compiled(machines[0])
    print(f"figure fleet_with_{kills}_of_{COUNT}_machines_killed {len(done)} compiles of {len(KEYS)} keys")
    assert set(done) == set(KEYS)
    assert len(done) <= len(KEYS) + kills


#: As FLEET, with a witness of when each compile began: machine, key, time. Keys that begin with "late" are compiled
#: when there is a file for that, and the machine has noticed that the remote is back.
STORM = (
    FLEET.replace("    time.sleep(float", "    began = time.time()\n    time.sleep(float")
    .replace('f.write(n + "\\n")', "f.write(f\"{os.environ['MACHINE']} {n} {began}\\n\")")
    .replace(
        "    for n in names:\n",
        "    for n in sorted(names, key=lambda n: n.startswith('late')):\n"
        "        while n.startswith('late') and not os.path.exists(os.environ['WITNESS'] + '.late'):\n"
        "            time.sleep(look)\n"
        "        if n.startswith('late') and again:\n"
        "            again = False\n"
        "            while cache.get(jitcache.Key(source='nothing')) is None and cache.last_miss != 'absent':\n"
        "                time.sleep(0.1)\n"
        "            time.sleep(2)  # a claim that failed is asked for again after one\n"
        "            open(os.environ['WITNESS'] + '.again', 'a').write('x')\n"
        "            while not os.path.exists(os.environ['WITNESS'] + '.new'):\n"
        "                time.sleep(look)\n",
    )
    .replace("with jitcache.Cache()", "again = True\nwith jitcache.Cache()")
)

#: How long after Redis is back each process uses it again: helpers probe once in 0.4 s, then a process that was told of
#: the outage pauses for up to 4 s.
RECOVERED = 6


@pytest.mark.control("noclaims")
def test_fleet_whose_redis_is_killed_compiles_again_only_what_that_has_lost(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    """Killed in the middle, and back after a second with nothing: no entry, no claim.

    Before, each key is compiled once; while it is away, and until all have noticed that it is back, once on each
    machine, however many of its processes ask; then once, where it was lost. What is new by then the same processes
    compile once. In a fleet of 200 on two processors a claim may time out, so there only the second holds.
    """
    overload = COUNT > 8  # time-outs end before helpers and Redis get the processor
    machines = [machine(redis.url + UNSIGNED) for _ in range(COUNT)]
    for n, m in enumerate(machines):
        m.env["MACHINE"] = str(n)
    keys, late = [f"{k}-{n}" for k in KEYS for n in range(4)], [f"late-{k}" for k in KEYS]
    processes = fleet([m for m in machines for _ in range(1 if overload else 2)], keys + late, STORM)
    end = time.monotonic() + 60
    while len(redis.names()) < 4:
        assert time.monotonic() < end
        time.sleep(0.01)
    killed = time.time()
    redis.stop()
    time.sleep(1)
    redis.start()
    recovered = time.time() + RECOVERED
    time.sleep(RECOVERED)
    witness = machines[0].witness
    witness.with_name("witness.late").touch()
    again, end = witness.with_name("witness.again"), time.monotonic() + 120 + COUNT
    while not again.exists() or len(again.read_text()) < len(processes):
        assert time.monotonic() < end, "not all have noticed that Redis is back"
        time.sleep(0.05)
    witness.with_name("witness.new").touch()
    ended(processes)
    rows = [line.split() for line in machines[0].witness.read_text().splitlines()]
    done = [(m, key, float(began)) for m, key, began in rows]
    assert {key for _, key, _ in done} == {*keys, *late}
    of_each = [(m, key) for m, key, _ in done]
    assert len(set(of_each)) == len(of_each), "a machine has compiled a key twice"
    before = [key for _, key, began in done if began < killed]
    new = sorted(key for _, key, _ in done if key in late)
    said = (
        f"{len(before)} compiles of {len(set(before))} keys before, {len(new)} of {len(late)} that were new afterwards"
    )
    print(f"figure fleet_whose_redis_is_killed {said} by {COUNT} machines")
    if not overload:
        assert len(set(before)) == len(before)
        after = [key for _, key, began in done if began > recovered]
        assert len(set(after)) == len(after)
        assert new == sorted(late)
