"""What every test of the hosts gets: an environment of its own, and the variant that make soak wants."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python"), str(ROOT / "tests"), str(ROOT)]

from isolation import isolate


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="the long variant, which prints figures")


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long variant."""
    return bool(request.config.getoption("--soak"))


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's cache and settings."""
    isolate(monkeypatch, tmp_path)
