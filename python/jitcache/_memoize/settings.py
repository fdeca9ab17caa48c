"""Settings: what of the interpreter changes results of code that asks for none of it."""

from __future__ import annotations

import _locale  # which locale would take a millisecond for
import sys
import warnings
from typing import Any


def settings() -> bytes:
    """Return how deep calls may be, how long numbers as texts, which warnings are errors, how numbers are written."""
    said = (
        sys.getrecursionlimit(),
        getattr(sys, "get_int_max_str_digits", int)(),
        _errors(),
        _locale.setlocale(_locale.LC_NUMERIC),
    )
    return repr(said).encode()


def _errors() -> list[tuple[Any, ...]]:
    """Return the filters of warnings if one of them raises: what only shows a warning is no result."""
    filters: Any = warnings.filters
    if not any(one[0] == "error" for one in filters):
        return []
    return [
        (action, _text(message), f"{category.__module__}.{category.__qualname__}", _text(module), line)
        for action, message, category, module, line in filters
    ]


def _text(pattern: Any) -> str | None:
    return None if pattern is None else str(getattr(pattern, "pattern", pattern))
