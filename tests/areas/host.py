"""Hosts that are hard to be a guest of: PETSc, sanitizers, callbacks that leave, a core that panics."""

from __future__ import annotations

import sys

from .common import Count, print_figures, pytest

FOLDER = "tests/host"


def tests() -> Count:
    """The short variant, of at most 90 seconds."""
    return pytest("host", sys.executable, FOLDER)


def soak() -> Count:
    """The long variant; prints its figures."""
    count = pytest("host-soak", sys.executable, "-s", "--soak", FOLDER)
    print_figures("host-soak")
    return count
