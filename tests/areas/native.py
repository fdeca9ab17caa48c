"""C, C++ and Cython: with gcc on any machine, and with clang, zig and Cython if they are installed."""

from __future__ import annotations

import sys

from . import control, cuda
from .common import Count, environment, install, print_figures, pytest, total

FOLDER = "tests/native"

#: Packages of PyPI that the tests need.
NEEDS = ["Cython>=3", "setuptools", "ziglang>=0.15"]


def tests(area: str = "native") -> Count:
    """The tests that need only gcc."""
    return pytest(area, sys.executable, FOLDER, "-m", "not rest", env=environment())


def walks() -> Count:
    """The random walks with gcc, clang and all NVRTCs, until they are saturated; prints what they saw."""
    wheels = cuda.real("walks-long")
    if wheels is None:
        return Count(0, 0, 1)
    files = [f"{FOLDER}/test_walk.py", f"{cuda.FOLDER}/test_walk.py"]
    env = environment(WALKS_SATURATE="1", **wheels)
    counts = [pytest("walks-long", sys.executable, "-s", file, env=env) for file in files]
    print_figures("walks-long")
    return total(counts)


def compilers(area: str = "native-compilers") -> Count:
    """The tests with clang, zig and Cython."""
    install(area, *NEEDS)
    return pytest(area, sys.executable, FOLDER, "-m", "rest", env=environment())


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    return control.of_area("native-controls", threads=4)
