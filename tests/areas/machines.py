"""Two machines: one does not compile again what the other has compiled. Needs root, strace and the compilers."""

from __future__ import annotations

import sys

from . import adapters, cuda, native, without
from .common import BUILD, Count, environment, install, pytest, run

FOLDER = "tests/machines"
AREA = "machines"


def tests(area: str = AREA) -> Count:
    """Test Cython, NVRTC from its wheels, and each framework that has an adapter."""
    install(area, *native.NEEDS)
    variables = {f"JITCACHE_TEST_{name}": python for name, python in adapters.interpreters_of(area).items()}
    variables["JITCACHE_TEST_OTHER_PROCESSOR"] = str(
        without.library(BUILD / "controls" / "other-processor", "othercpu")
    )
    fakes = BUILD / "test" / "cuda"
    run(area, [sys.executable, "tests/cuda/fakes.py", str(fakes)])
    variables["JITCACHE_TEST_FAKE_DRIVER"] = str(fakes / "libcuda.so.1")
    env = environment(**variables, **(cuda.real(area) or {}))
    return pytest(area, sys.executable, FOLDER, env=env)
