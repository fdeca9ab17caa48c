"""What every test of the Numba adapter gets: this checkout, a cache and a home of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(HERE)]
sys.path += [str(TESTS), str(TESTS / "frameworks")]

import project as projects
from project import Project


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs root where there is none."""
    for item in items:
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how the processes of rows were started, and whence the answers of a plain Numba are."""
    for line in projects.told():
        terminalreporter.write_line(line)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder of sources, whose processes use one cache."""
    return Project(tmp_path / "project")
