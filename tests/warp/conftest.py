"""What every test of the Warp adapter gets: this checkout, and a folder whose processes use one cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(HERE)]
sys.path.append(str(TESTS))

from project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder, and processes that compile in it."""
    return Project(tmp_path / "project")
