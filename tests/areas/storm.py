"""Storms: many processes at once, killed, stopped and interrupted, on one directory."""

from __future__ import annotations

import sys

from .common import Count, environment, print_figures, pytest


def _storm(area: str, length: str) -> Count:
    """Run the storms, and print the figures that they leave."""
    count = pytest(area, sys.executable, "tests/storm", env=environment(STORM=length))
    print_figures(area)
    return count


def short() -> Count:
    """Storms of seconds."""
    return _storm("storm", "short")


def long() -> Count:
    """Storms of minutes, and storms that make sense only if they are long."""
    return _storm("storm-long", "long")
