"""What every test of the cuda.core adapter gets: this checkout, caches of its own, and NVRTCs that are counted."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Callable

import pytest

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(TESTS / "cuda"), str(HERE)]
sys.path += [str(TESTS), str(TESTS / "frameworks")]

import fakes
from isolation import isolate
from jitcache import _default
from prepared import FRESH
from workspace import NVRTC, PREPARED, Workspace, build_counted_linker

# The classes that a test of the contract is run over.
CLASSES = ["FileStreamProgramCache", "ProgramCache"]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's caches and settings."""
    isolate(monkeypatch, tmp_path, frozenset({"JITCACHE_LIBRARY", FRESH}))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setattr(_default, "_opened", {})


# cuda.core's own: a Program of a source with debug information and no name, if the garbage collector
# takes it with its options first.
_OF_CUDA_CORE = (
    "ignore:Exception ignored in. 'cuda.core._program.Program.__dealloc__':pytest.PytestUnraisableExceptionWarning"
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs root where there is none."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(_OF_CUDA_CORE))
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how the processes of rows were started."""
    terminalreporter.write_line(PREPARED.told())


def class_of(name: str) -> type:
    """Return cuda.core's class, or ours."""
    import cuda.core.utils
    from jitcache.adapters import cuda_core

    return getattr(cuda_core if name == "ProgramCache" else cuda.core.utils, name)


@pytest.fixture(params=CLASSES)
def kind(request: pytest.FixtureRequest) -> type:
    """cuda.core's class, and ours."""
    return class_of(request.param)


@pytest.fixture
def upstream() -> type:
    return class_of("FileStreamProgramCache")


@pytest.fixture
def ours() -> type:
    return class_of("ProgramCache")


@pytest.fixture(scope="session")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real NVRTC, which writes its compiles down; for cuda.core and for us."""
    return fakes.build_counted(tmp_path_factory.mktemp("counted"), NVRTC)


@pytest.fixture(scope="session")
def counted_linker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real nvJitLink, which writes its links down."""
    return build_counted_linker(tmp_path_factory.mktemp("linker"))


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver for machines without a GPU."""
    return fakes.build(tmp_path_factory.mktemp("driver") / "libcuda.so.1", fakes.DRIVER)


@pytest.fixture
def workspace(tmp_path: Path, counted: Path) -> Workspace:
    """A folder of sources, and processes that work in it."""
    return Workspace(tmp_path / "workspace", counted)


@pytest.fixture
def with_driver(workspace: Workspace, driver: Path) -> Callable[..., dict[str, str]]:
    """Return what makes a driver of some version the one of a process."""
    return lambda **more: {"LD_LIBRARY_PATH": str(driver.parent), "JITCACHE_LIBCUDA": str(driver), **more}
