"""What code in object mode holds. Numba puts a pickle of it into the code, so loaded code would have a copy."""

from __future__ import annotations

import enum
import sys
import types as pytypes
from typing import Any, Callable

import numpy as np
from numba.core import ir, pylowering, pythonapi, types
from numba.core.dispatcher import Dispatcher

from jitcache._code import PLAIN

from ._seen import current

Method = Callable[..., Any]


def _is_same_as_copy(value: Any) -> bool:
    """Whether nobody can tell a value from what its pickle gives in another process."""
    kind = type(value)
    if kind in PLAIN or isinstance(value, (type, types.Type, pytypes.ModuleType, pytypes.CodeType, Dispatcher)):
        return True
    if kind in (tuple, frozenset):
        return all(map(_is_same_as_copy, value))
    if isinstance(value, (enum.Enum, np.dtype, np.generic, np.ufunc)):
        return True
    module = getattr(value, "__module__", None)
    found = sys.modules.get(module) if isinstance(module, str) and module != "__main__" else None
    for part in str(getattr(value, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return found is value


def _note_held(value: Any) -> None:
    """Refuse an object that the program may change, or compare with its own."""
    seen = current()
    if seen is not None and not _is_same_as_copy(value):
        seen.refuse("object mode", f"holds an object of type {type(value).__qualname__}")


def _hold(original: Method) -> Method:
    def lower_const(self: Any, const: Any) -> Any:
        _note_held(const)
        return original(self, const)

    return lower_const


def _hold_block(original: Method) -> Method:
    def load_dispatcher(self: Any, fnty: Any, argtypes: Any) -> Any:
        """Look at what the block's intermediate code holds, which Numba pickles."""
        for block in fnty.dispatcher.func_ir.blocks.values():
            for statement in block.find_insts(ir.Assign):
                if isinstance(statement.value, (ir.Const, ir.FreeVar)):
                    _note_held(statement.value.value)
        return original(self, fnty, argtypes)

    return load_dispatcher


#: What is replaced, as in ``_uses``.
PLACES: list[tuple[Any, str, Callable[[Method], Method]]] = [
    (pylowering.PyLower, "lower_const", _hold),
    (pythonapi.ObjModeUtils, "load_dispatcher", _hold_block),
]
