"""A fleet of small processes, fifty on a machine at most: it compiles each key once, and nobody waits much longer than a compile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fleet import KEYS, SECONDS, bounds_missed, measure, served

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

#: How many processes there are. make soak has 300.
COUNT = int(os.environ.get("FLEET_PROCESSES", "20"))


@pytest.mark.control("noclaims", rows=["Redis", "S3"])
@pytest.mark.parametrize("engine", ["Redis", "S3"])
def test_fleet_compiles_each_key_once_and_waits_little_longer_than_a_compile(tmp_path: Path, engine: str) -> None:
    """Each of the processes wants all keys, in an order of its own; the compiles are pauses."""
    small = COUNT <= 40
    with served(tmp_path, engine) as (url, env):
        row = measure(tmp_path, engine, url, COUNT, 6 if small else KEYS, SECONDS, **env)
    print(f"figure fleet_of_processes_by_{engine} {row}")
    assert row.compiles == row.keys
    assert row.waited > SECONDS / 4  # some have waited
    if small:  # of hundreds most wait for a processor, and not for the compile
        assert bounds_missed([row]) == []
