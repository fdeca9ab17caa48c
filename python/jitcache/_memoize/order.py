"""Which orders and names are the same in every process of a program."""

from __future__ import annotations

import cmath
import enum
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_BY_TEXTS = (enum.Enum.__hash__, str.__hash__, bytes.__hash__)
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE


def hashes_are_fixed() -> bool:
    """Return whether a text has the same hash in each process that has the same settings."""
    return os.environ.get("PYTHONHASHSEED", "random") != "random"


def fixed_order(items: Iterable[Any]) -> bool:
    """Return whether a set of these items has the same order in every process."""
    return all(map(_has_fixed_hash, items))


def _has_fixed_hash(item: Any) -> bool:
    if type(item) in (float, complex):
        return not is_nan(item)  # its hash is that of its address
    if type(item) in (int, bool):
        return True
    if type(item) in (tuple, frozenset):
        return all(map(_has_fixed_hash, item))
    if isinstance(item, enum.Enum):
        # By its name or text; or as numbers are, or as its author says.
        return hashes_are_fixed() if type(item).__hash__ in _BY_TEXTS else type(item).__hash__ is not object.__hash__
    return type(item) in (str, bytes) and hashes_are_fixed()


def is_nan(value: complex) -> bool:
    """Return whether a number is NaN, which equals nothing: a list finds it only as the same object."""
    return cmath.isnan(value)


def is_elsewhere(cls: type) -> bool:
    """Return whether a class of Python code is not the one that its module has under its name.

    ``dataclasses.make_dataclass`` and ``type`` make such classes, with any module name.
    """
    if not cls.__flags__ & _HEAP or cls.__flags__ & _IMMUTABLE:
        return False
    found: Any = sys.modules.get(str(cls.__module__))
    for name in cls.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(name)  # without importing anything
    return found is not cls
