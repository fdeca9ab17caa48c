"""Plain code: functions of others that choose by types alone. They may run where a result is kept by its source.

Most functions under ``overload`` look at the types that they are given and return a function. Such a function
can reach only its arguments, and the globals and cells that it names. It is plain if all these are values that
the walk describes, classes of types, or functions of Python's that look at nothing else. What is not surely so
is not plain.
"""

from __future__ import annotations

import builtins
import dis
import inspect
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import errors, types

from jitcache._code import PLAIN

from ._code import versioned_class

if TYPE_CHECKING:
    import types as pytypes
    from collections.abc import Mapping

# Python's functions and classes whose result depends on their arguments alone.
_FUNCTIONS = frozenset((
    "abs", "all", "any", "bool", "chr", "complex", "enumerate", "float", "int", "isinstance", "issubclass", "len",
    "list", "max", "min", "ord", "range", "reversed", "sorted", "sum", "tuple", "zip",
))  # fmt: skip

# Attributes of Numba's types that are part of the types.
_ATTRIBUTES = frozenset((
    "aligned", "bitwidth", "count", "dtype", "is_c_contig", "is_contig", "is_f_contig", "item_type", "key_type",
    "layout", "literal_value", "mutable", "ndim", "readonly", "signed", "types", "underlying_float", "value_type",
    "yield_type",
))  # fmt: skip

_MODULES = (numba, types, np, errors)

# What Numba has for functions of linear algebra: their types, and the letters of types.
_LINEAR = frozenset(("_BLAS", "_LAPACK", "_blas_kinds"))

# The instructions with a name that only read.
_READING = frozenset(("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_METHOD"))

# The others of CPython 3.9 to 3.13 that move, compare and combine values, call and jump, by the lists of dis. Not
# here is what changes a value, gives text, which may have an address in it, makes a set, whose order differs in each
# process, or a class, imports, or enters a with. An instruction of a later Python is not plain until it stands here.
_COMBINING = frozenset((
    "BINARY_ADD", "BINARY_AND", "BINARY_FLOOR_DIVIDE", "BINARY_LSHIFT", "BINARY_MATRIX_MULTIPLY", "BINARY_MULTIPLY",
    "BINARY_OP", "BINARY_OR", "BINARY_POWER", "BINARY_RSHIFT", "BINARY_SLICE", "BINARY_SUBSCR", "BINARY_SUBTRACT",
    "BINARY_TRUE_DIVIDE", "BINARY_XOR", "BUILD_CONST_KEY_MAP", "BUILD_LIST", "BUILD_MAP", "BUILD_SLICE", "BUILD_TUPLE",
    "CACHE", "CALL", "CALL_FUNCTION", "CALL_FUNCTION_EX", "CALL_FUNCTION_KW", "CALL_KW", "CALL_METHOD",
    "CHECK_EXC_MATCH", "COMPARE_OP", "CONTAINS_OP", "COPY", "COPY_FREE_VARS", "DELETE_FAST", "DICT_MERGE",
    "DICT_UPDATE", "DUP_TOP", "DUP_TOP_TWO", "END_FOR", "EXTENDED_ARG", "FOR_ITER", "GET_ITER", "GET_LEN", "IS_OP",
    "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_FORWARD", "JUMP_IF_FALSE_OR_POP",
    "JUMP_IF_NOT_EXC_MATCH", "JUMP_IF_TRUE_OR_POP", "KW_NAMES", "LIST_APPEND", "LIST_EXTEND", "LIST_TO_TUPLE",
    "LOAD_ASSERTION_ERROR", "LOAD_CLASSDEREF", "LOAD_CLOSURE", "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST",
    "LOAD_FAST_AND_CLEAR", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST", "MAKE_CELL", "MAKE_FUNCTION", "MAP_ADD", "NOP",
    "POP_BLOCK", "POP_EXCEPT", "POP_JUMP_BACKWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_TRUE", "POP_JUMP_FORWARD_IF_FALSE",
    "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_IF_FALSE",
    "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE", "POP_JUMP_IF_TRUE", "POP_TOP", "PRECALL", "PUSH_EXC_INFO", "PUSH_NULL",
    "RAISE_VARARGS", "RERAISE", "RESUME", "RETURN_CONST", "RETURN_VALUE", "ROT_FOUR", "ROT_N", "ROT_THREE", "ROT_TWO",
    "SETUP_FINALLY", "SET_FUNCTION_ATTRIBUTE", "STORE_DEREF", "STORE_FAST", "STORE_FAST_LOAD_FAST",
    "STORE_FAST_STORE_FAST", "SWAP", "TO_BOOL", "UNARY_INVERT", "UNARY_NEGATIVE", "UNARY_NOT", "UNARY_POSITIVE",
    "UNPACK_EX", "UNPACK_SEQUENCE",
))  # fmt: skip
_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _linear() -> dict[str, Any]:
    """Return what Numba's module of linear algebra has of these, by name."""
    from numba.np import linalg

    return {name: vars(linalg)[name] for name in _LINEAR if name in vars(linalg)}


def _is_value(value: Any) -> bool:
    """Whether a value is one that the walk describes, with nothing behind it that changes."""
    if type(value) in PLAIN:
        return True
    if type(value) in (tuple, list):
        return all(map(_is_value, value))
    if type(value) is dict:
        return all(map(_is_value, (*value, *value.values())))
    if isinstance(value, types.Type):
        return versioned_class(type(value))
    return isinstance(value, type) and versioned_class(value) and issubclass(value, (types.Type, np.generic, Exception))


def _names(value: Any, attributes: frozenset[str]) -> frozenset[str] | None:
    """Return which of some attributes a global or a cell has that are plain too. None if it is not plain."""
    if _is_value(value):
        return frozenset()
    if any(value is module for module in _MODULES):
        found = frozenset(name for name in attributes if name in vars(value))
        return found if all(_names(vars(value)[name], attributes) is not None for name in found) else None
    if getattr(value, "__module__", None) == "builtins" and getattr(value, "__name__", None) in _FUNCTIONS:
        return frozenset() if vars(builtins).get(value.__name__) is value else None
    if any(value is one for one in _linear().values()):
        return attributes.intersection(dir(value)) if isinstance(value, type) else frozenset()
    return None


def is_plain(code: pytypes.CodeType, space: Mapping[str, Any], cells: Mapping[str, Any]) -> bool:
    """Return whether code with some globals and cells is plain: that of a function that begins to run."""
    if code.co_flags & _RUNS_LATER or any(isinstance(constant, frozenset) for constant in code.co_consts):
        return False
    named: set[str] = set()
    attributes: set[str] = set()
    for one in dis.get_instructions(code):
        if one.opcode in dis.hasname:
            if one.opname not in _READING:
                return False
            (named if one.opname == "LOAD_GLOBAL" else attributes).add(str(one.argval))
        elif one.opname not in _COMBINING or (one.opname == "BINARY_OP" and one.argrepr.endswith(("%", "="))):
            return False
        elif one.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF") and one.argval in code.co_freevars:
            if one.argval not in cells:
                return False
            named.add(str(one.argval))
    own = vars(builtins)
    known = _ATTRIBUTES
    for name in named:
        value = cells[name] if name in code.co_freevars else space.get(name, own.get(name))
        found = _names(value, frozenset(attributes))
        if found is None:
            return False
        known |= found
    return known.issuperset(attributes)
