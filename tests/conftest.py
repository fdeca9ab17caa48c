"""Every folder of tests: which rows run (tests/reach/rows.py), and that Ctrl-C means what it means in a terminal."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent))

from reach import rows

# A shell starts what it runs in the background with SIGINT ignored, and so would every program of the tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the rows that the area does not want."""
    want = rows.wanted()
    os.environ.pop(rows.VARIABLE, None)  # it is not about the pytest that a test starts
    runs = rows.choose([item.nodeid for item in items], want)
    config.hook.pytest_deselected(items=[item for item, run in zip(items, runs) if not run])
    items[:] = [item for item, run in zip(items, runs) if run]
