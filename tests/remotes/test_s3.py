"""One compile per fleet through a server of S3: claims that are conditional PUTs and DELETEs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple

import pytest
from remotes import Machine
from test_fleet import COUNT, KEYS, ended, fleet
from test_remote import UNSIGNED, compiled, gateway, machine

__all__ = ["machine"]  # a fixture

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "user", "AWS_SECRET_ACCESS_KEY": "secret"}


class S3(NamedTuple):
    """A server of S3, whose objects are files."""

    url: str
    folder: Path
    stop: Callable[[], None]

    def names(self, suffix: str) -> list[str]:
        """Return the names of objects; folders come and go meanwhile, which os.walk passes over."""
        return [name for _, _, names in os.walk(self.folder) for name in names if name.endswith(suffix)]


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[S3]:
    process, url = gateway(tmp_path)
    yield S3(url + UNSIGNED, tmp_path / "s3", process.kill)
    process.kill()
    process.wait()


def claimed(s3: S3) -> None:
    """Wait until somebody has a claim."""
    end = time.monotonic() + 30
    while not s3.names("-claim"):
        assert time.monotonic() < end, "nobody has claimed anything"
        time.sleep(0.01)


def killed(m: Machine, *processes: object) -> None:
    """Kill all that runs on a machine."""
    for pid in m.helpers():
        os.kill(pid, signal.SIGKILL)
    for p in processes:
        p.kill()  # type: ignore[attr-defined]
        p.wait()  # type: ignore[attr-defined]


def test_fleet_compiles_each_key_once_through_s3(machine: Callable[..., Machine], s3: S3) -> None:
    """Machines with a directory and a helper each, which start together; nothing is left behind but entries."""
    machines = [machine(s3.url, **CREDENTIALS) for _ in range(COUNT)]
    ended(fleet(machines, KEYS))
    assert sorted(compiled(machines[0])) == sorted(KEYS)
    for m in machines:
        m.sent()
    end = time.monotonic() + 20
    while s3.names("-claim"):
        assert time.monotonic() < end, s3.names("-claim")
        time.sleep(0.05)


def test_machine_that_dies_with_a_claim_in_s3_is_noticed_within_ten_seconds(
    machine: Callable[..., Machine], s3: S3
) -> None:
    """Program and helper, killed -9: who waits has compiled it then, once."""
    one, two, three = (machine(s3.url, **CREDENTIALS) for _ in range(3))
    (dying,) = fleet([one], ["k"], COMPILE_SECONDS="600")
    claimed(s3)
    waiting = [*fleet([two], ["k"]), *fleet([three], ["k"])]
    time.sleep(1)
    assert [p.poll() for p in waiting] == [None, None]
    assert compiled(one) == []
    killed(one, dying)
    began = time.monotonic()
    ended(waiting)
    assert compiled(two) == ["k"]
    # The claim is seen to be dead, the other waiter's compile, and its next look.
    assert time.monotonic() - began < 10 + 1 + 5


def test_fleet_whose_s3_is_killed_goes_on(machine: Callable[..., Machine], s3: S3) -> None:
    """It does not come back: each machine compiles a key once at most, and all end well."""
    machines = [machine(s3.url, **CREDENTIALS) for _ in range(4)]
    processes = fleet(machines, KEYS[:4], COMPILE_SECONDS="0.5")
    claimed(s3)
    s3.stop()
    ended(processes)
    done = compiled(machines[0])
    assert set(done) == set(KEYS[:4])
    assert max(done.count(k) for k in KEYS[:4]) <= len(machines)
