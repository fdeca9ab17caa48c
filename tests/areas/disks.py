"""Bad disks: full, read-only, moved, on a network, and failing call by call; and their controls."""

from __future__ import annotations

import os
import sys

from . import control
from .common import Count, environment, print_figures, pytest

FOLDER = "tests/disks"


def _disks(area: str, length: str) -> Count:
    more = {"JITCACHE_LIBRARY": os.environ["JITCACHE_LIBRARY"]} if "JITCACHE_LIBRARY" in os.environ else {}
    return pytest(area, sys.executable, FOLDER, env=environment(DISKS=length, **more))


def short() -> Count:
    """The variant of at most a minute."""
    return _disks("disks", "short")


def long() -> Count:
    """The long variant, with all rows; prints its figures."""
    count = _disks("disks-long", "long")
    print_figures("disks-long")
    return count


#: Seconds after which a process counts as stuck in a control. The tests themselves wait longer.
STUCK = "10"


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    return control.of_area("disks-controls", DISKS_STUCK=STUCK)
