"""What every test of frameworks on a GPU gets: this checkout, and a folder whose processes use one cache."""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Callable

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(TESTS / "cuda"), str(HERE)]
sys.path.append(str(TESTS))

import fakes
from project import NVRTC, Project


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip where there is no driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as e:
        pytest.skip(f"no driver can be loaded: {e}")


@pytest.fixture(scope="session")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Return the NVRTC of this interpreter, which writes its compiles down. It is built once."""
    made: list[Path] = []

    def get() -> Path:
        if not made:
            folders = find_spec("nvidia").submodule_search_locations
            real = next(p for f in folders for p in sorted(Path(f).glob(NVRTC)))
            made.append(fakes.build_counted(tmp_path_factory.mktemp("counted"), real))
        return made[0]

    return get


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path, counted: Callable[[], Path]) -> Project:
    """A folder with the program of a framework, and processes that run it; skip without the framework."""
    return Project(tmp_path / "project", request.param, counted)
