"""What every test of the PyTorch adapter gets: this checkout, a compiler that is counted, and a cache that is filled once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(TESTS / "frameworks"), str(HERE)]
sys.path.append(str(TESTS))

from project import AT_ONCE, OURS, Compiler, Project


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    """A g++ of the tests' own, of which every start is seen."""
    with Compiler(tmp_path_factory.mktemp("compiler")) as own:
        yield own


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler) -> Project:
    """A project whose cache two processes have filled at once, each with PyTorch folders of its own."""
    project = Project(tmp_path_factory.mktemp("made") / "project", compiler)
    compiler.started()
    remote = project.folder / "remote"
    remote.mkdir()
    project.remote = f"file://{remote}|trust=unsigned"
    processes = [
        project.start(OURS + AT_ONCE, JITCACHE_REMOTE=project.remote, **project.folders(name))
        for name in ("one", "two")
    ]
    project.first = project.together(processes)
    project.starts = compiler.started()
    return project


@pytest.fixture
def project(tmp_path: Path, compiler: Compiler, made: Project) -> Project:
    """A project with a copy of that cache, and empty PyTorch folders. No compiler has been seen to start yet."""
    project = Project(tmp_path / "project", compiler)
    project.copy(made)
    compiler.started()
    return project


@pytest.fixture
def empty(tmp_path: Path, compiler: Compiler) -> Project:
    """A project with an empty cache."""
    compiler.started()
    return Project(tmp_path / "project", compiler)
