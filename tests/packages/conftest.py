"""What the tests of packages get."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import copy_to


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of this checkout."""
    return copy_to(tmp_path / "jitcache")
