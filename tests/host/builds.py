"""The library that is under test, and control builds of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import build_library

BUILD = Path(__file__).resolve().parents[2] / "build"
_made: dict[str, Path] = {}


def plain() -> Path:
    """Return the library that make lib has built."""
    return BUILD / "lib" / "libjitcache.so"


def control(name: str, **how: Any) -> Path:
    """Build the library with a mechanism taken out; return its file."""
    if name not in _made:
        _made[name] = build_library.build(BUILD / "controls" / f"host-{name}", **how)
    return _made[name]
