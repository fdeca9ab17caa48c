"""Isolation of tests from the cache and the settings of the user who runs them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def isolate(monkeypatch: pytest.MonkeyPatch, folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Give a test a default cache in a folder, and remove all variables of jitcache except those to keep."""
    for name in os.environ:
        if name.startswith("JITCACHE") and name not in keep:
            monkeypatch.delenv(name)
    monkeypatch.setenv("JITCACHE_DIR", str(folder / "default-cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "settings"))
