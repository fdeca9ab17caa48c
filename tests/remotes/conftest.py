"""Remotes at their worst: what tests/python has of them, beside engines and faults that take longer or need root."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS), str(TESTS / "python"), str(TESTS / "remotes")]

from isolation import isolate

KEEP = frozenset({"JITCACHE_LIBRARY"})


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache and settings."""
    isolate(monkeypatch, tmp_path, KEEP)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs root where there is none."""
    for item in items:
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))
