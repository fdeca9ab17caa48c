"""Fixtures of all tests of the Python package: this checkout, and an environment for each test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS), str(TESTS / "python")]

from isolation import isolate
from jitcache import _default

# Names the library under test, which may be a control build.
KEEP = frozenset({"JITCACHE_LIBRARY"})


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Shield a test from the user's cache and settings, and from the previous test's default cache."""
    isolate(monkeypatch, tmp_path, KEEP)
    monkeypatch.setattr(_default, "_opened", {})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that need root if this is not root."""
    if os.geteuid() == 0:
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root"))
