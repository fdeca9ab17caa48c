"""The options of a jitted function."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from numba.core.registry import CPUDispatcher

_given_options: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


def given_options(dispatcher: Any) -> dict[str, Any]:
    """Return the options of a jitted function as they were at the first call. Numba later removes parts of some."""
    found = _given_options.get(dispatcher)
    if found is None:
        options = dispatcher.targetoptions
        found = {name: dict(v) if isinstance(v, dict) else v for name, v in options.items()}
        _given_options[dispatcher] = found
    return found


@functools.cache
def _names_of_numba() -> frozenset[str]:
    return frozenset((*vars(CPUDispatcher(lambda: None)), "_can_compile"))


def set_on(dispatcher: Any) -> dict[str, Any]:
    """Return what somebody has set on a jitted function."""
    own = _names_of_numba()
    return {n: v for n, v in sorted(vars(dispatcher).items()) if n not in own and not n.endswith("__uuid")}
