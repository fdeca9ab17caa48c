"""Rows of a table of which CI runs a part: all of them run with make test-all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

#: Rows that only make test-all runs.
more = pytest.mark.more


def sampled(rows: Sequence[tuple[Any, ...]], names: Sequence[str], every: int = 4) -> list[Any]:
    """Return the rows as parameters, all but every fourth, or so, marked as more."""
    return [
        pytest.param(*row, id=name, marks=() if n % every == 0 else more)
        for n, (row, name) in enumerate(zip(rows, names))
    ]
