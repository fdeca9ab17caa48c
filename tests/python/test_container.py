"""Containers: what a process has stored is sent before the end of the namespace kills the helper."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
from processes import check
from remotes import Machine, Redis
from test_remote import UNSIGNED, black_hole, machine, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: What nobody has said: then the library finds out by itself.
UNSAID = {"JITCACHE_REMOTE_EXIT_WAIT": ""}

PUTS = """
import sys, time, jitcache
cache = jitcache.Cache()
for n in range(20):
    cache.put(jitcache.Key(n=n), b"x" * 20000)
print("stored", flush=True)
time.sleep(float(sys.argv[1]))
"""


def container(m: Machine, *words: str, **env: str) -> subprocess.Popen[bytes]:
    """Start Python as process 1 of a namespace of process ids."""
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        unshare += ["--user", "--map-root-user"]
    if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no namespace of process ids can be made here")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **m.env, **UNSAID, **env}
    return subprocess.Popen([*unshare, sys.executable, "-c", *words], env=env, stdout=subprocess.PIPE)


@pytest.mark.control("noexitwait")
def test_container_that_ends_with_puts_pending_loses_none(machine: Callable[..., Machine], redis: Redis) -> None:
    """Its first process ends without a setting that lets it wait, while Redis does not answer."""
    one = machine(redis.url + UNSIGNED)
    redis.say("CLIENT", "PAUSE", "1500")
    process = container(one, PUTS, "0")
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert one.helpers() == [], "the kernel has ended it"
    assert len(redis.names()) == 20
    assert one.outboxes() == []


def test_container_that_is_killed_loses_nothing_that_was_stored_before_the_wait(
    machine: Callable[..., Machine], redis: Redis
) -> None:
    one = machine(redis.url + UNSIGNED)
    redis.say("CLIENT", "PAUSE", "1000")
    process = container(one, PUTS, "600")
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(4)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    while one.helpers():
        time.sleep(0.01)
    assert len(redis.names()) == 20


def test_job_of_a_batch_system_waits_too(machine: Callable[..., Machine], redis: Redis) -> None:
    one = machine(redis.url + UNSIGNED, **UNSAID, SLURM_JOB_ID="1")
    redis.say("CLIENT", "PAUSE", "1500")
    check(PUTS, "0", env=one.env)
    for pid in one.helpers():
        os.kill(pid, signal.SIGKILL)
    assert len(redis.names()) == 20


def test_process_on_a_machine_does_not_wait(machine: Callable[..., Machine], redis: Redis) -> None:
    if Path("/proc/self/ns/pid").stat().st_ino != 0xEFFFFFFC:
        pytest.skip("this is a container")
    one = machine(redis.url + UNSIGNED, **UNSAID)
    redis.say("CLIENT", "PAUSE", "3000")
    check(PUTS, "0", env=one.env)
    assert len(one.outboxes()) == 20
    one.sent()


@pytest.mark.parametrize("fault", ["refuses", "black hole"])
def test_end_of_a_container_does_not_wait_for_a_remote_that_is_down(
    machine: Callable[..., Machine], fault: str
) -> None:
    hole = black_hole()
    port = hole.getsockname()[1]
    if fault == "refuses":
        hole.close()
    one = machine(f"redis://127.0.0.1:{port}|timeout=1s{UNSIGNED}")
    began = time.monotonic()
    process = container(one, PUTS, "0")
    process.communicate(timeout=60)
    took = time.monotonic() - began
    hole.close()
    assert process.returncode == 0
    assert len(one.outboxes()) == 20, "the next one sends them"
    assert took < 6
