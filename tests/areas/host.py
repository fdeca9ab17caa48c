"""Hosts that are hard to be a guest of: PETSc, sanitizers, callbacks that leave, a core that panics."""

from __future__ import annotations

import re
import sys

from .common import Count, log_of, pytest

FOLDER = "tests/host"


def tests() -> Count:
    """The short variant, of at most 90 seconds."""
    return pytest("host", sys.executable, FOLDER)


def soak() -> Count:
    """The long one; prints its figures."""
    count = pytest("host-soak", sys.executable, "-s", "--soak", FOLDER)
    for line in re.findall(r"^\.*(figure \w+ \S+ \S+)$", log_of("host-soak").read_text(), re.MULTILINE):
        print(line)
    return count
