"""The observer beside strace: the same names, for compilers, linkers, wrappers and builds."""

from __future__ import annotations

import shutil

from . import cuda, go
from .common import Count, environment, skipped, venv


def tests() -> Count:
    """Whatever is compared has to be there: tests/deps-ci.sh, and Cython and NVRTC from PyPI."""
    if shutil.which("strace") is None:
        return skipped("observe", "strace")
    python = venv("observe", "observe", ["Cython>=3", "setuptools"])
    if python is None:
        return Count(0, 0, 1)
    wheels = cuda.real("observe")
    if wheels is None:
        return Count(0, 0, 1)
    env = environment(JITCACHE_TEST_OBSERVE_COMPARE=python, **wheels)
    return go.test("observe", "-count=1", "./tests/observe/compare", env=env)
