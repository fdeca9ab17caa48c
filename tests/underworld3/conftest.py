"""What every test of underworld3's adapter gets: an environment of its own, and a compiler that counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "mpi"), str(HERE.parent / "python"), str(HERE.parents[1] / "python")]
sys.path.append(str(HERE.parent))

from isolation import isolate
from site_folder import Site


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache and settings."""
    isolate(monkeypatch, tmp_path, frozenset({"JITCACHE_LIBRARY"}))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A machine with a compiler that counts, and a directory for the cache."""
    made = Site(tmp_path)
    yield made
    made.bell.close()  # a user has 128 of its kind
