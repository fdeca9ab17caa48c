"""The launcher: what it replays and what it does not, and programs of PyPI that compile at run time."""

from __future__ import annotations

import sys

from . import control
from .common import Count, environment, print_figures, pytest, skipped, total, venv
from .python import interpreters

FOLDER = "tests/launch"

#: nvcc with all that it needs to compile.
NVCC = [
    "nvidia-cuda-nvcc==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-cccl==13.3.5.0.6",
]

#: Packages that compile at run time with a command that the user can set. Brian2 needs Python 3.13.
CALLERS = [
    "cffi",
    "setuptools",
    "meson",
    "sympy",
    "Cython",
    "pytensor",
    "devito",
    "brian2",
    "fenics-ffcx",
    "pythran",
    "cmake",
    "ninja",
    *NVCC,
    "nvidia-cuda-cuobjdump==13.5.37",
    "nvidia-cuda-nvdisasm==13.5.37",
]

#: The tests that need these packages.
_OF_CALLERS = [f"{FOLDER}/test_callers.py", f"{FOLDER}/test_nvcc.py"]


def tests() -> Count:
    others = [f"--ignore={path}" for path in _OF_CALLERS]
    return pytest("launch", sys.executable, FOLDER, *others, "-m", "not rest", env=environment())


def rest() -> Count:
    """The whole tables, and tests that need more than gcc."""
    return pytest("launch-rest", sys.executable, FOLDER, "-m", "rest", env=environment())


def callers() -> Count:
    """Run each package twice, with its own caches empty."""
    python = interpreters().get("3.13", sys.executable if sys.version_info[:2] == (3, 13) else None)
    if python is None:
        return skipped("callers", "callers")
    own = venv("callers", "callers", CALLERS, python)
    if own is None:
        return Count(0, 0, 1)
    variables = {"JITCACHE_TEST_CALLERS": own}
    count = pytest("callers", sys.executable, *_OF_CALLERS, env=environment(**variables))
    return total([count, control.of_area("callers", **variables)])


def soak() -> Count:
    """The random walk, for ten minutes."""
    env = environment(LAUNCH_WALK_SECONDS="600", LAUNCH_WALK_STEPS="200")
    count = pytest("launch-soak", sys.executable, "-s", f"{FOLDER}/test_walk.py", env=env)
    print_figures("launch-soak")
    return count


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    return control.of_area("launch-controls", threads=4)
