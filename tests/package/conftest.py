"""What the tests of the build and of the package get: this checkout's modules."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "cmake"), str(ROOT / "tests")]
