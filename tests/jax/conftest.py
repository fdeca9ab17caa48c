"""What every test of the JAX adapter gets: this checkout, and a folder whose processes use one cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(HERE)]
sys.path += [str(TESTS), str(TESTS / "frameworks")]

from project import PREPARED, Project


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how the processes of rows were started."""
    terminalreporter.write_line(PREPARED.told())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder, and processes that compile in it."""
    return Project(tmp_path / "project")
