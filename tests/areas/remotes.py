"""Remotes at their worst: other engines, faults of networks and of disks that are a network's, and what goes over the wire."""

from __future__ import annotations

import sys

from .common import Count, environment, pytest

FOLDER = "tests/remotes"


def tests() -> Count:
    """What a minute is enough for."""
    return pytest("remotes", sys.executable, FOLDER, "-m", "not slow", env=environment())


def rest() -> Count:
    """And what takes longer."""
    return pytest("remotes-rest", sys.executable, FOLDER, "-m", "slow", env=environment())
