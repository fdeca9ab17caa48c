"""Code: what a function or class is without what it reaches, and whose it is."""

from __future__ import annotations

import functools
import os
import struct
import sys
import sysconfig
import types as pytypes
import weakref
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.cloudpickle import cloudpickle


class Unkeyable(Exception):
    """What a function depends on cannot be described: ``reason``, and what it is in the text."""

    def __init__(self, reason: str, what: object = "") -> None:
        super().__init__(f"{reason}: {what}"[:300] if what else reason)
        self.reason = reason


def _folders(*paths: str) -> tuple[str, ...]:
    return tuple(path + os.sep for path in paths)


_PATHS = sysconfig.get_paths()
_STDLIB = _folders(_PATHS["stdlib"], _PATHS["platstdlib"])
_SITE = _folders(_PATHS["purelib"], _PATHS["platlib"], *(os.path.join(p, "dist-packages") for p in _STDLIB))
_PACKAGES = _folders(*(os.path.dirname(str(m.__file__)) for m in (numba, np, llvmlite)))
_TESTS = _folders(os.path.join(_PACKAGES[0], "tests"))


@functools.cache
def versioned(path: str) -> bool:
    """Return whether a file belongs to Python, Numba, NumPy or llvmlite, whose versions are in every key."""
    if path.startswith(_PACKAGES):
        return not path.startswith(_TESTS)
    return path.startswith("<frozen ") or (path.startswith(_STDLIB) and not path.startswith(_SITE))


def versioned_module(module: pytypes.ModuleType) -> bool:
    """Return the same of a module."""
    path = getattr(module, "__file__", None)
    return module.__name__ in sys.builtin_module_names if path is None else versioned(path)


def versioned_class(cls: type) -> bool:
    """Return the same of a class."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__ != "__main__" and module is not None and versioned_module(module)


_codes: weakref.WeakKeyDictionary[pytypes.CodeType, tuple[bytes, tuple[str, ...], tuple[str, ...]]]
_codes = weakref.WeakKeyDictionary()


def pack(*parts: bytes) -> bytes:
    """Join parts so that no others give the same."""
    return b"".join(struct.pack("<I", len(p)) + p for p in parts)


def code_of(code: pytypes.CodeType) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
    """Return a code object as bytes, the names in it, and its texts; nested code counts as its own."""
    found = _codes.get(code)
    if found is None:
        found = _codes[code] = _describe_code(code)
    return found


def _describe_code(code: pytypes.CodeType) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    tables = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    parts = [
        code.co_code,
        getattr(code, "co_exceptiontable", b""),
        code.co_name.encode(),
        repr((counts, tables)).encode(),
    ]
    names = dict.fromkeys(code.co_names)
    texts: dict[str, None] = {}
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            described, inner_names, inner_texts = code_of(const)
            parts.append(described)
            names.update(dict.fromkeys(inner_names))
            texts.update(dict.fromkeys(inner_texts))
        else:
            # A frozenset's order differs from process to process.
            text = repr(sorted(map(repr, const))) if isinstance(const, frozenset) else repr(const)
            parts.append(f"{type(const).__name__} {text}".encode())
            if isinstance(const, str):
                texts[const] = None
    return pack(*parts), tuple(names), tuple(texts)


def lines_of(function: pytypes.FunctionType) -> bytes:
    """Return where a function's lines are, for code with debug information in it."""
    code = function.__code__
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    return pack(code.co_filename.encode(), str(code.co_firstlineno).encode(), table)


def _is_importable(cls: type) -> bool:
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls and cls.__module__ != "__main__"


def pin(cls: type) -> None:
    """Have pickles of a class that cannot be imported mean the class of this name in whatever process loads them.

    Numba's pickles of such a class, in entries and inside of compiled code, hold a
    copy of it and a random id; what a hit returns or raises would be of the copy.
    Raises Unkeyable if two classes of this process have the name.
    """
    if _is_importable(cls):
        return
    name = f"jitcache:{cls.__module__}.{cls.__qualname__}"
    try:
        with cloudpickle._DYNAMIC_CLASS_TRACKER_LOCK:
            if cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID.setdefault(name, cls) is cls:
                cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS[cls] = name
                return
    except AttributeError as e:
        raise Unkeyable("class that cannot be imported", cls) from e
    raise Unkeyable("two classes of one name", cls)
