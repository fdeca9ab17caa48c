"""Data: Python's containers, and NumPy's arrays and scalars, as bytes for a key.

Of an instance of a program's own subclass of these, the class and the attributes
count too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jitcache._code import PLAIN
from jitcache._dtype import parts_of

from ._code import Unkeyable, pack, versioned_class
from ._objects import ObjectWalker

if TYPE_CHECKING:
    import enum
    import types as pytypes

# Numba makes no constant of a larger array: the code contains its address instead (dynamic globals).
_MOST_BYTES = 10**6
_MOST_ITEMS = 10_000


def _order(value: Any) -> bytes:
    """Return a sort key for the items of a set, whose own order differs between processes.

    The order matters because an object is described where the walk meets it first, and by
    its number where the walk meets it again.
    """
    kind = type(value)
    if kind in PLAIN:
        return PLAIN[kind](value)
    named = [str(getattr(value, name, "")) for name in ("__module__", "__qualname__", "_name_", "name")]
    if isinstance(value, (tuple, frozenset)):
        held = [_order(item) for item in value]
    else:
        attributes = sorted(getattr(value, "__dict__", {}).items())
        held = [PLAIN[type(item)](item) for _, item in attributes if type(item) in PLAIN]
    parts = sorted(held) if isinstance(value, frozenset) else held
    return pack(kind.__qualname__.encode(), *(name.encode("utf-8", "replace") for name in named), *parts)


_CONTAINERS = frozenset((dict, frozenset, list, set, tuple))


def _is_data(value: Any) -> bool:
    """Return whether a value is one of Python's containers or an array, with nothing but data in it."""
    held = [value]
    for item in held:  # which grows
        kind = type(item)
        if kind in _CONTAINERS:
            held += (*item, *item.values()) if kind is dict else item
        elif kind is np.ndarray:
            if item.nbytes > _MOST_BYTES or item.dtype.hasobject:
                return False
        elif kind not in PLAIN and not isinstance(item, np.generic):
            return False
        if len(held) > _MOST_ITEMS:
            return False
    return True


class DataWalker(ObjectWalker):
    """The part of the walk that describes data."""

    def _data_in(self, module: pytypes.ModuleType, *, containers: bool) -> None:
        """Put the plain values of a module, and its containers and arrays of such values."""
        for name, value in list(module.__dict__.items()):
            if name.startswith("__"):
                continue
            if type(value) in PLAIN:
                self._put(name, PLAIN[type(value)](value))
            elif containers and _is_data(value):
                self._put(name)
                self._value(value)

    def _items(self, value: Any) -> None:
        if len(value) > _MOST_ITEMS:
            raise Unkeyable("large global", f"{type(value).__qualname__} of {len(value)}")
        if type(value) not in (tuple, list):
            self._class(type(value))
        self._put(type(value).__name__, str(len(value)).encode())
        for item in value:
            self._value(item)
        self._beside(value)

    def _set(self, value: Any) -> None:
        items = sorted(value, key=_order)
        self._put("set", b"".join(sorted(self.describe(item) for item in items)))
        self._beside(value)

    def _dict(self, value: Any) -> None:
        if type(value) is dict:
            self._items([*value.keys(), *value.values()])
        elif not self._again(value):
            self._items([*value.keys(), *value.values()])
            self._beside(value)
            if dict in type(value).__mro__ and any(map(versioned_class, _above(type(value), dict))):
                self._reduced(value, type(value).__qualname__)  # the order of an OrderedDict, a defaultdict's factory

    def describe(self, value: Any) -> bytes:
        """Return a value as bytes."""
        return self._within(self._value, value)

    def _beside(self, value: Any) -> None:
        """Put the class and the attributes of an instance of a program's own class."""
        if not versioned_class(type(value)):
            self._class(type(value))
            if not isinstance(value, tuple):
                self._note_others(type(value))
            self._held(value)

    def _array(self, value: Any) -> None:
        self._put("array", type(value).__qualname__.encode())
        self._dtype(value.dtype)
        if value.nbytes > _MOST_BYTES:
            raise Unkeyable("dynamic globals", f"array of {value.nbytes} bytes")
        flags = value.flags
        layout = (value.shape, value.strides, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned)
        self._put("layout", repr(layout).encode())
        self._put("data", value.tobytes())
        self._beside(value)
        if any(map(versioned_class, _above(type(value), np.ndarray))):
            self._reduced(value, type(value).__qualname__)  # the mask of a masked array, say

    def _flag(self, value: Any) -> None:
        """Put a compile flag that is a small object: fast-math, parallel, inline."""
        self._put("option", type(value).__qualname__.encode())
        state = {n: getattr(value, n) for n in getattr(type(value), "__slots__", ())} or vars(value)
        for name in sorted(state):
            self._put(name)
            self._value(state[name])

    def _enum(self, value: enum.Enum) -> None:
        self._class(type(value))
        self._put("member", value.name.encode())

    def _numpy_ufunc(self, value: Any) -> None:
        name = str(value.__name__)
        if getattr(np, name, None) is not value:
            raise Unkeyable("ufunc", value)
        self._put("numpy", name.encode())

    def _scalar(self, value: Any) -> None:
        self._dtype(value.dtype)
        self._put("data", value.tobytes())
        self._beside(value)

    def _dtype(self, dtype: Any) -> None:
        if dtype.hasobject:
            raise Unkeyable("array of objects", dtype)
        self._put("dtype")
        self._value(parts_of(dtype))


def _above(cls: type, base: type) -> tuple[type, ...]:
    """Return a class and those of its bases that come before ``base``."""
    return cls.__mro__[: cls.__mro__.index(base)]
