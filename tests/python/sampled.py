"""Sampled rows: tables of which CI runs a part, and make test-all all rows.

A table is a part of CI in one of two ways. A test marks its own rows (sampled), or an area
says of all its tables how many rows it runs (EVERY). Either way the other rows have the
mark "more".
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import Any

import pytest

#: Rows that only make test-all runs.
more = pytest.mark.more

#: The variable by which an area says that it runs one of so many rows of each table.
EVERY = "JITCACHE_TEST_EVERY"

#: Smaller tables run whole: many are a test and its control.
FEW = 4


def sampled(rows: Sequence[tuple[Any, ...]], names: Sequence[str], every: int = 4) -> list[Any]:
    """Return the rows as parameters; all but about every fourth are marked as more."""
    return [
        pytest.param(*row, id=name, marks=() if n % every == 0 else more)
        for n, (row, name) in enumerate(zip(rows, names))
    ]


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the rows that the area leaves to make test-all. A folder's conftest.py imports this."""
    every = int(os.environ.get(EVERY, "1"))
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        name, bracket, _ = item.nodeid.partition("[")
        if bracket and not item.get_closest_marker("more"):
            tables.setdefault(name, []).append(item)
    for rows in tables.values():
        if len(rows) >= FEW:
            # By a hash of the name: every second of a table for two compilers would be one compiler's.
            rows.sort(key=lambda row: zlib.crc32(row.nodeid.encode()))
            for row in rows[-(-len(rows) // every) :]:
                row.add_marker(more)
