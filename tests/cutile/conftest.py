"""What every test of the cuTile adapter gets: this checkout, and a compiler whose runs are seen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [
    str(TESTS.parent / "python"),
    str(TESTS / "python"),
    str(TESTS / "frameworks"),
    str(TESTS / "cuda"),
    str(HERE),
]
sys.path.append(str(TESTS))

from project import PREPARED, Compiler, Project


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how the processes of rows were started."""
    terminalreporter.write_line(PREPARED.told())


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    """A tileiras of the tests' own, of which every start is seen."""
    return Compiler(tmp_path_factory.mktemp("compiler"))


@pytest.fixture
def project(tmp_path: Path, compiler: Compiler) -> Project:
    """A project with empty caches. No compiler has been seen to start yet."""
    compiler.runs(), compiler.started()
    return Project(tmp_path / "project", compiler)
