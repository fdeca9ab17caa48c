"""Sampled rows: tables of which CI runs a part, and make test-all all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

#: Rows that only make test-all runs.
more = pytest.mark.more


def sampled(rows: Sequence[tuple[Any, ...]], names: Sequence[str], every: int = 4) -> list[Any]:
    """Return the rows as parameters; all but about every fourth are marked as more."""
    return [
        pytest.param(*row, id=name, marks=() if n % every == 0 else more)
        for n, (row, name) in enumerate(zip(rows, names))
    ]
