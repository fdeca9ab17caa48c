"""How long a storm lasts, which library it hits, and the figures that it leaves.

STORM=long    storms of minutes and all of them; otherwise seconds
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent / "python"), str(TESTS / "format"), str(TESTS.parent)]

import build_library

LONG = os.environ.get("STORM") == "long"


class Figures:
    """What was measured, printed as lines "figure NAME VALUE UNIT" when all is over."""

    lines: list[str] = []

    def add(self, name: str, value: float, unit: str) -> None:
        self.lines.append(f"figure {name} {value:.6g} {unit}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak: only in the long storms")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("soak") and not LONG:
            item.add_marker(pytest.mark.skip(reason="STORM=long runs it"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in Figures.lines:
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a storm from the user's settings."""
    for name in os.environ:
        if name.startswith("JITCACHE") and name != "JITCACHE_LIBRARY":
            monkeypatch.delenv(name)


@pytest.fixture
def long() -> bool:
    return LONG


@pytest.fixture
def figures() -> Figures:
    return Figures()


def _control(name: str) -> str:
    return str(build_library.build(TESTS.parent / "build" / "controls" / f"storm-{name}", control=name))


@pytest.fixture(scope="session")
def without_leases() -> str:
    """A library in which nobody waits for anybody's compile."""
    return _control("nolease")


@pytest.fixture(scope="session")
def without_checksums() -> str:
    """A library that hands out what it reads."""
    return _control("nochecksum")


@pytest.fixture(scope="session")
def without_samples() -> str:
    """A library whose evictions look at every entry."""
    return _control("lookatall")
