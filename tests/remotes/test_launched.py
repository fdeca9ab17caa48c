"""One run per fleet of a launched command, where that takes seconds; tests/python/test_fleet_run.py has the rest."""

from __future__ import annotations

import shutil
import time
from typing import Callable

import pytest
from remotes import Redis
from test_fleet_run import Builder, build, claimed
from test_remote import machine, redis

__all__ = ["build", "machine", "redis"]  # fixtures

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc"),
]


def test_launcher_whose_machine_dies_is_noticed_within_ten_seconds(build: Callable[..., Builder], redis: Redis) -> None:
    one, two = build(redis.url, seconds=60), build(redis.url, seconds=60)
    one.start()
    claimed(redis)
    two.start()
    time.sleep(2)
    (two.folder / "settings").write_text("SECONDS_TO_TAKE=0\nSTATUS=0\n")
    assert two.process is not None and two.process.poll() is None
    one.kill()
    began = time.monotonic()
    two.ends()
    assert two.left
    assert time.monotonic() - began < 10 + 2


@pytest.mark.slow
def test_command_that_fails_elsewhere_is_waited_for_once(build: Callable[..., Builder], redis: Redis) -> None:
    """What has failed is not kept, so each machine finds out by itself: together, and not one after the other."""
    builders = [build(redis.url, seconds=4, status=3) for _ in range(4)]
    builders[0].start()
    claimed(redis)
    began = time.monotonic()
    for b in builders[1:]:
        b.start()
    for b in builders:
        b.ends(3)
    took = time.monotonic() - began
    assert len({b.left for b in builders}) == len(builders)
    assert took < 4 * len(builders), f"{took:.1f} s: one after the other"
