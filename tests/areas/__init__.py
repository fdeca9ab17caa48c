"""The areas of the tests: table.py declares them."""

from __future__ import annotations

from .common import log_of
from .table import AREAS, SOAK, names

__all__ = ["AREAS", "SOAK", "log_of", "names"]
