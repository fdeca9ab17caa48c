"""What the tests of pages need: a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import browser


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if browser.chromium() is None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="no chromium"))
