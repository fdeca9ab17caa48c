"""What every test of bad disks gets: an environment and a mount namespace of its own.

DISKS=long    the long variant, which prints figures
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "python"), str(HERE.parent.parent)]

from member import Member, Strace

LONG = os.environ.get("DISKS") == "long"
CLONE_NEWNS = 0x00020000


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak: only in the long variant")
    config.addinivalue_line("markers", "strace: needs strace")
    # What is mounted is gone with this process, however it ends.
    if os.geteuid() == 0 and ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0:
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    strace = any(os.access(os.path.join(p, "strace"), os.X_OK) for p in os.environ["PATH"].split(os.pathsep))
    for item in items:
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))
        if item.get_closest_marker("strace") and not strace:
            item.add_marker(pytest.mark.skip(reason="needs strace"))
        if item.get_closest_marker("soak") and not LONG:
            item.add_marker(pytest.mark.skip(reason="DISKS=long runs it"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, value, unit in (
        ("calls_made_to_fail", Strace.total, "calls"),
        ("slowest_answer_on_a_bad_disk", Member.slowest, "s"),
    ):
        terminalreporter.write_line(f"figure {name} {value:.6g} {unit}")


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test from the user's settings."""
    for name in os.environ:
        if name.startswith("JITCACHE") and name != "JITCACHE_LIBRARY":
            monkeypatch.delenv(name)
    monkeypatch.setenv("JITCACHE_DIR", str(tmp_path / "default-cache"))


@pytest.fixture
def long() -> bool:
    return LONG
