"""The options of a jitted function."""

from __future__ import annotations

import weakref
from typing import Any

_given_options: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


def given_options(dispatcher: Any) -> dict[str, Any]:
    """Return the options of a jitted function as they were at the first call. Numba later removes parts of some."""
    found = _given_options.get(dispatcher)
    if found is None:
        options = dispatcher.targetoptions
        found = {name: dict(v) if isinstance(v, dict) else v for name, v in options.items()}
        _given_options[dispatcher] = found
    return found
