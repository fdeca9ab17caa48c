"""Versioned: the modules of Python, Numba and NumPy, and what others have put into them.

Their versions are in every key, so their own content counts by its name. What a program
has put there counts by value. Python does not record who has set an attribute, so the
walk tells it from the value.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types as pytypes
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from jitcache._code import PLAIN

from ._code import pack, versioned, versioned_class, versioned_module
from ._data import DataWalker

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILTINS = vars(builtins)


def put_instead(function: Any, own: Any) -> None:
    """Note which function ours replaces while compiles are watched."""
    function._jitcache_original = (function, own)


def original(value: Any) -> Any:
    """Return a value as it is when no compile is watched: for one of our replacements, Python's own function."""
    if not isinstance(value, pytypes.FunctionType):
        return value
    function, own = getattr(value, "_jitcache_original", (None, None))
    return own if function is value else value  # functools.wraps copies the note to others' wrappers of ours


# Kinds of values that have a name, by which those of Python, Numba and NumPy count.
_NAMED = frozenset((
    type, staticmethod, classmethod, np.ufunc, Dispatcher, pytypes.FunctionType, pytypes.BuiltinFunctionType,
    pytypes.MethodType, type(functools.lru_cache(len)),
))  # fmt: skip


def own_name(value: Any) -> str | None:
    """Return a value's own name, whatever name it was found under; None if it has none."""
    value = original(value)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"{getattr(value, '__module__', '')}.{name}" if isinstance(name, str) else None


class VersionedWalker(DataWalker):
    """The part of the walk that describes modules whose versions are in every key."""

    def _ran_module(self, module: pytypes.ModuleType, names: tuple[str, ...]) -> None:
        """Put a module into which Python code looks."""
        raise NotImplementedError

    def _around(self, function: Any, names: tuple[str, ...], attributes: tuple[str, ...]) -> Any:
        yield from super()._around(function, names, attributes)
        for name in names:
            if name in BUILTINS and name not in function.__globals__:
                yield from self._replaced(name)

    def _replaced(self, name: str) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
        """Yield the value under a builtin's name if its own name is another, or if it has none."""
        value, own = BUILTINS[name], own_name(BUILTINS[name])
        if self._is_added(value, "builtins"):
            return
        if own is None:
            yield f"builtin {name}", value, ()
        elif own != f"builtins.{name}":
            yield f"builtin {name}", own, ()

    def _addition(self, module: pytypes.ModuleType, name: str, names: tuple[str, ...], owner: str) -> None:
        value = original(module.__dict__[name])
        self._put("attribute", f"{module.__name__}.{name} {own_name(value) or ''}".encode())
        if isinstance(value, type):
            self._told(value)
        if type(value) is list and name != "path":  # sys.argv, say; not sys.path: what is imported counts by itself
            self._put("list", pack(*(PLAIN[type(v)](v) for v in value if type(v) in PLAIN)))
        elif module is sys and value is sys.modules:
            for other in names:
                if other in value and not versioned_module(value[other]):
                    self._put(f"imported {other}")
                    self._ran_module(value[other], names)
        elif self._is_added(value, owner):
            self._value(value, names)
        elif not any(base in _NAMED for base in type(value).__mro__) and self._is_data(value, module):
            self._or_file(value, module.__name__)

    def _is_data(self, value: Any, module: pytypes.ModuleType) -> bool:
        """Whether a value is of a kind that the walk describes, or is in a C module.

        In a C module, hardly anybody but a program sets attributes to other values.
        """
        return any(base in self.kinds for base in type(value).__mro__) or not hasattr(module, "__file__")

    def _is_added(self, value: Any, owner: str) -> bool:  # noqa: ARG002 - Python's, Numba's, NumPy's: all the same
        value = original(value)
        if type(value) in PLAIN or isinstance(value, (pytypes.ModuleType, np.ndarray, np.generic)):
            return True
        function = getattr(value, "py_func", value)
        if isinstance(function, pytypes.FunctionType):
            return not versioned(function.__code__.co_filename)
        return not versioned_class(value if isinstance(value, type) else type(value))
