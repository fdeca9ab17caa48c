"""The choice of what runs, tested on changes that were made up."""

from __future__ import annotations

import sys

from .common import Count, pytest


def tests() -> Count:
    return pytest("reach", sys.executable, "tests/reach")
