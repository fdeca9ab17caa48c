"""Two machines: what the one has compiled, the other does not compile again. Needs root, strace and the compilers."""

from __future__ import annotations

import sys

from . import cuda, native
from .common import Count, environment, pytest, run

FOLDER = "tests/machines"


def tests() -> Count:
    """Run it with Cython, and with NVRTC from its wheels."""
    run("machines", [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *native.NEEDS])
    return pytest("machines", sys.executable, FOLDER, env=environment(**(cuda.real("machines") or {})))
