"""What every test here gets: this checkout's package, a cache of its own, and fakes of NVIDIA's libraries."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from pathlib import Path
from typing import Callable, NamedTuple

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(TESTS / "cuda")]
sys.path.append(str(TESTS))

import fakes
import jitcache
from fakes import CallLog, Gate, Witnesses
from isolation import isolate
from jitcache import _default

# Which library is under test, and where NVIDIA's wheels are.
KEEP = frozenset({"JITCACHE_LIBRARY", *(f"JITCACHE_TEST_CUDA{v}" for v in ("12", "13", "128", "130"))})

# Where NVIDIA's wheels have NVRTC.
NVRTC = {"12": "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "13": "nvidia/cu13/lib/libnvrtc.so.13"}
LIBCUDA = "libcuda.so.1"
REAL = [pytest.param(version, marks=pytest.mark.nvrtc) for version in NVRTC]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache, settings, toolkits and devices."""
    isolate(monkeypatch, tmp_path, KEEP)
    for name in os.environ:
        if name in ("CUDA_HOME", "CUDA_PATH") or name.startswith(("STUBNVRTC_", "FAKECUDA_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr(_default, "_opened", {})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests come in the order in which what they load does not meet what others have loaded.

    A fake driver has its soname; and the builtins of a real NVRTC are
    part of what a fake of that version is, from when they are loaded.
    """
    order = {"gpu": 0, "nvrtc": 2}
    items.sort(key=lambda item: next((order[m.name] for m in item.iter_markers() if m.name in order), 1))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a driver where none can be loaded."""
    if item.get_closest_marker("gpu"):
        try:
            ctypes.CDLL(LIBCUDA)
        except OSError as e:
            pytest.skip(f"no driver can be loaded: {e}")


def wheels(version: str) -> Path:
    """The folder with NVIDIA's wheels of a CUDA version; skip without."""
    folder = os.environ.get(f"JITCACHE_TEST_CUDA{version}")
    if not folder:
        pytest.skip(f"JITCACHE_TEST_CUDA{version} names no folder with NVIDIA's wheels")
    return Path(folder).resolve()


class Compiler(NamedTuple):
    """An NVRTC that writes down what it does."""

    name: str  # "stub", "12", "13"
    path: Path
    log: CallLog

    @property
    def compiles(self) -> int:
        """How often it has compiled, in whatever process."""
        return self.log.compiles


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return an NVRTC by name, built when it is first asked for."""
    known: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in known:
            folder = tmp_path_factory.mktemp(f"nvrtc-{name}")
            if name in NVRTC:
                known[name] = fakes.build_counted(folder, wheels(name) / NVRTC[name])
            else:
                flags = fakes.OLDER if name == "older" else ()
                known[name] = fakes.build(folder / "libnvrtc.so.13", fakes.COMPILER, *flags)
        return known[name]

    return get


def use(monkeypatch: pytest.MonkeyPatch, name: str, path: Path) -> Compiler:
    """Make an NVRTC the one of this test and of the processes that it starts."""
    log = Witnesses(fakes.witnesses(path))
    log.path.mkdir(parents=True, exist_ok=True)
    log.clear()
    monkeypatch.setenv("JITCACHE_NVRTC", str(path))
    return Compiler(name, path, log)


@pytest.fixture(params=["stub", *REAL])
def compiler(
    request: pytest.FixtureRequest, built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Compiler:
    """Every NVRTC, one after the other."""
    return use(monkeypatch, request.param, built(request.param))


@pytest.fixture
def stub(built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Compiler:
    """The NVRTC that compiles to a digest of all that it reads."""
    return use(monkeypatch, "stub", built("stub"))


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Where compiles wait that have begun."""
    name = f"gate-{os.getpid()}"
    monkeypatch.setenv("STUBNVRTC_GATE", name)
    return Gate(name)


@pytest.fixture
def cache(tmp_path: Path) -> jitcache.Cache:
    """A cache without a tier in memory: what is found was stored."""
    return jitcache.Cache(tmp_path / "cache", memory_size=0)


@pytest.fixture(scope="session")
def built_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver for machines without a GPU."""
    return fakes.build(tmp_path_factory.mktemp("driver") / "libcuda.so.1", fakes.DRIVER)


@pytest.fixture
def driver_file(built_driver: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A driver of the test's own, which nothing was asked of yet; it writes down its calls."""
    path = tmp_path / "driver" / "libcuda.so.1"
    path.parent.mkdir()
    shutil.copy(built_driver, path)
    monkeypatch.setenv("JITCACHE_LIBCUDA", str(path))
    monkeypatch.setenv("FAKECUDA_LOG", str(tmp_path / "cuda.log"))
    return path


@pytest.fixture
def calls(driver_file: Path, tmp_path: Path) -> CallLog:
    """What the driver was called for."""
    return CallLog(tmp_path / "cuda.log")
