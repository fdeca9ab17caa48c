"""What every test here gets: this checkout's package, a cache of its own, and stand-ins for NVIDIA's libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
sys.path[:0] = [str(ROOT), str(ROOT / "python"), str(TESTS / "python"), str(TESTS / "cuda")]

from isolation import isolate
from jitcache import _cache

import build_library

# Which library is under test, and where NVIDIA's wheels are.
KEEP = frozenset({"JITCACHE_LIBRARY", "JITCACHE_TEST_CUDA12", "JITCACHE_TEST_CUDA13"})

# Where NVIDIA's wheels have NVRTC.
NVRTC = {"12": "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "13": "nvidia/cu13/lib/libnvrtc.so.13"}


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache, settings and toolkits."""
    isolate(monkeypatch, tmp_path, KEEP)
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_cache, "_default", None)


def build(source: str, out: Path, soname: str, *flags: str) -> Path:
    """Compile a stand-in of cuda/cudatest."""
    command = [*(build_library.find_cc() or ["cc"]), "-O1", "-shared", "-fPIC", "-pthread", f"-Wl,-soname,{soname}"]
    path = ROOT / "cuda" / "cudatest" / source
    subprocess.run([*command, *flags, "-o", str(out), str(path), "-ldl"], check=True)
    return out


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An NVRTC that compiles to a digest of all that it reads."""
    return build("libnvrtc.c", tmp_path_factory.mktemp("stub") / "libnvrtc.so.13", "libnvrtc.so.13")


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A driver for machines without a GPU."""
    return build("libcuda.c", tmp_path_factory.mktemp("driver") / "libcuda.so.1", "libcuda.so.1")


def wheels(version: str) -> Path:
    """The folder with NVIDIA's wheels of a CUDA version; skip without."""
    folder = os.environ.get(f"JITCACHE_TEST_CUDA{version}")
    if not folder:
        pytest.skip(f"JITCACHE_TEST_CUDA{version} names no folder with NVIDIA's wheels")
    return Path(folder)


@pytest.fixture(params=["12", "13"])
def nvrtc(request: pytest.FixtureRequest) -> Path:
    """A real NVRTC, one after the other."""
    return wheels(request.param) / NVRTC[request.param]


class Witness:
    """What a stand-in wrote down: a line for each call."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, begin: str = "") -> list[str]:
        """Return the lines that begin so."""
        text = self.path.read_text() if self.path.exists() else ""
        return [line for line in text.splitlines() if line.startswith(begin)]

    def count(self, begin: str) -> int:
        """Count the lines that begin so."""
        return len(self.lines(begin))
