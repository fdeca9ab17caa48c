"""Code: whose it is, where its lines are, and by which names pickles refer to classes."""

from __future__ import annotations

import functools
import os
import sys
import types
from collections import Counter
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
import numpy as np
from numba.cloudpickle import cloudpickle

import jitcache
from jitcache._code import Unkeyable, code_of, folders, is_standard, pack

if TYPE_CHECKING:
    import types as pytypes
    from collections.abc import Iterator

__all__ = [
    "HEAP",
    "OURS",
    "Unkeyable",
    "code_of",
    "codes_in",
    "is_importable",
    "is_quiet",
    "is_standard",
    "lines_of",
    "number_of",
    "own_locals",
    "pack",
    "pin",
    "versioned",
    "versioned_class",
    "versioned_module",
]


#: The flag of classes that were made while the process ran, Py_TPFLAGSHEAPTYPE. Most classes in C are not.
HEAP = 1 << 9
_WRITTEN_IN_C = (types.MethodDescriptorType, types.ClassMethodDescriptorType, types.WrapperDescriptorType)

_PACKAGES = folders(*(os.path.dirname(str(m.__file__)) for m in (numba, np, llvmlite)))
_TESTS = folders(os.path.join(_PACKAGES[0], "tests"))


@functools.cache
def versioned(path: str) -> bool:
    """Return whether a file belongs to Python, Numba, NumPy or llvmlite, whose versions are in every key."""
    if path.startswith(_PACKAGES):
        return not path.startswith(_TESTS)
    return is_standard(path)


#: The folder of this package.
OURS = folders(os.path.dirname(jitcache.__file__))


@functools.cache
def is_quiet(path: str) -> bool:
    """Return whether code of a file need not be seen: the version of its package is in every key, or it is ours."""
    return versioned(path) or path.startswith(OURS)


def versioned_module(module: pytypes.ModuleType) -> bool:
    """Return whether the version of a module is in every key, as ``versioned`` does for a file."""
    path = getattr(module, "__file__", None)
    if path is not None:
        return versioned(path)
    # The name of the module _io is io, that of its spec _io.
    names = module.__name__, getattr(getattr(module, "__spec__", None), "name", None)
    return any(name in sys.builtin_module_names for name in names)


def versioned_class(cls: type) -> bool:
    """Return the same for a class: whether its module's version is in every key."""
    module = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__" or module is None or not versioned_module(module):
        return False
    found = getattr(module, "__dict__", {}).get(cls.__qualname__)
    return found is cls or not cls.__flags__ & HEAP or _is_of_its_module(cls)


def _is_of_its_module(cls: type) -> bool:
    """Whether a class that is not in the module that it names is of that module, and not one that Python made there.

    ``dataclasses.make_dataclass``, ``types.new_class`` and ``ABCMeta(...)`` name the module
    that calls ``type``. Such a class has nothing that is written in that module's files or in C.
    """
    if is_importable(cls):
        return True
    members = [v for n, v in vars(cls).items() if n not in ("__dict__", "__weakref__")]
    files = [v.__code__.co_filename for v in members if isinstance(v, types.FunctionType)]
    return all(map(versioned, files)) if files else any(isinstance(v, _WRITTEN_IN_C) for v in members)


def lines_of(function: pytypes.FunctionType) -> bytes:
    """Return a function's file, first line and line table, which debug information in compiled code depends on."""
    code = function.__code__
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    return pack(code.co_filename.encode(), str(code.co_firstlineno).encode(), table)


def own_locals(types: dict[str, Any]) -> dict[str, Any]:
    """Return the types of local variables that the program has given, without those that Numba has added.

    Numba's compiler adds to the dictionary: a variable ``x`` that is set again becomes
    ``x.1``, with the type of ``x``. So it differs before and after a compile.
    """
    return {name: t for name, t in types.items() if "." not in name or types.get(name.partition(".")[0]) is not t}


def is_importable(cls: type) -> bool:
    """Return whether a class is found under its name, in every process that imports its module."""
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is cls and cls.__module__ != "__main__"


def codes_in(code: pytypes.CodeType) -> Iterator[pytypes.CodeType]:
    """Yield a code object and all code objects nested in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


_pinned: Counter[str] = Counter()


def pin(cls: type) -> str:
    """Let pickles refer to a class that cannot be imported by a name, which each loading process resolves.

    Otherwise Numba's pickles of such a class, in entries and inside compiled code, hold a
    copy of it and a random id, and a hit would return or raise instances of the copy.
    Returns the name, "" for a class that can be imported. Another class of the same name
    (a notebook makes one when a cell is run again) gets a name with a number.
    """
    if is_importable(cls):
        return ""
    try:
        with cloudpickle._DYNAMIC_CLASS_TRACKER_LOCK:
            known = cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS.get(cls)
            if known is not None and known.startswith("jitcache:"):
                return str(known)
            name = f"jitcache:{cls.__module__}.{cls.__qualname__}"
            _pinned[name] += 1
            if _pinned[name] > 1:
                name += f"#{_pinned[name]}"
            cloudpickle._DYNAMIC_CLASS_TRACKER_BY_ID[name] = cls
            cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS[cls] = name
            return name
    except AttributeError as e:
        raise Unkeyable("class that cannot be imported", cls) from e


def number_of(cls: type) -> int:
    """Return the number of a pinned class among the classes of its name."""
    name = str(cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS.get(cls, ""))
    return int(name.partition("#")[2] or 1)
