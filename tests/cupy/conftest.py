"""What every test of the CuPy adapter gets: this checkout, an NVRTC that is counted, and a folder whose processes use one cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(TESTS / "cuda"), str(HERE)]
sys.path.append(str(TESTS))

import fakes
from project import NVRTC, Project


@pytest.fixture(scope="session")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real NVRTC, which writes its compiles down; for CuPy and for us."""
    return fakes.build_counted(tmp_path_factory.mktemp("counted"), NVRTC)


@pytest.fixture
def project(tmp_path: Path, counted: Path) -> Project:
    """A folder, and processes that compile in it."""
    return Project(tmp_path / "project", counted)
