"""Every folder of tests: which rows run (tests/reach/rows.py)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent))

from reach import rows


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the rows that the area does not want."""
    want = rows.wanted()
    os.environ.pop(rows.VARIABLE, None)  # it is not about the pytest that a test starts
    runs = rows.choose([item.nodeid for item in items], want)
    config.hook.pytest_deselected(items=[item for item, run in zip(items, runs) if not run])
    items[:] = [item for item, run in zip(items, runs) if run]
