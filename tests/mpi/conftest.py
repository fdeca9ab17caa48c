"""What every test of MPI gets: an environment of its own, and the MPI to run on.

MPI_VENV names the folder of virtual environments with mpi4py, Cython and an MPI each (tests/areas/mpi.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
sys.path.append(str(HERE.parent))

from isolation import isolate


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache and settings."""
    isolate(monkeypatch, tmp_path, frozenset({"JITCACHE_LIBRARY"}))
