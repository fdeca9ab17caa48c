"""What every test here gets: this checkout's package, and no cache or settings of the user's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "python"), str(TESTS / "guest")]

from isolation import isolate

# Says which library is under test: a control's.
KEEP = frozenset({"JITCACHE_LIBRARY"})


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache and settings."""
    isolate(monkeypatch, tmp_path, KEEP)


@pytest.fixture
def library() -> Path:
    """The file of the library under test."""
    return Path(os.environ.get("JITCACHE_LIBRARY") or TESTS.parent / "build" / "lib" / "libjitcache.so").resolve()


@pytest.fixture
def times() -> int:
    """How often what may go wrong once in a while is done: $GUEST_TIMES."""
    return int(os.environ.get("GUEST_TIMES", "20"))
