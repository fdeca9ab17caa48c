"""What a program has changed in Triton: functions, classes and methods that it has replaced or added.

A kernel may ask a value of its own for such a method, and Triton's compiler calls its own functions. Neither is a name
that the kernel looks up as a global, and Triton's key has only the files that Triton came with.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import operator
import os
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

import triton
from triton.language import core

import jitcache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Parts of Triton that take no part in a compile. This is an allow-list: what is changed elsewhere counts.
_APART = ("triton.testing", "triton.profiler", "triton.tools")

#: A function whose answer is in Triton's key, whoever gives it: workers of other projects are told it.
_IN_KEY = "triton_key"


def _folder(module: types.ModuleType) -> str:
    return os.path.dirname(os.path.abspath(str(module.__file__))) + os.sep


# Whose code may be in Triton: its own, ours, and Python's, which also makes methods of classes without a file.
_OURS = (_folder(triton), _folder(jitcache))
_PYTHONS = _folder(os)
_MADE, _FROZEN = "<string>", "<frozen "
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_ROOTS = {"triton", "jitcache", "nanobind", "pybind11_builtins", *getattr(sys, "stdlib_module_names", ())}

_PLAIN = (type(None), bool, int, float, complex, str, bytes, tuple, list, dict)
_HOLD_NOTHING = {
    *_PLAIN, types.ModuleType, types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, inspect.Signature,
}  # fmt: skip
# What in a class is no data: code, which counts if it is not Triton's, and descriptors of Python's.
_CODE = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.WrapperDescriptorType, type, property, staticmethod, classmethod,
    functools.cached_property,
)  # fmt: skip
#: The attributes that Triton and Python give to Triton's functions. This is an allow-list: all others count.
_GIVEN = frozenset((
    "__isabstractmethod__", "__mro_entries__", "__signature__", "__triton_builtin__", "__wrapped__",
    "_must_use_result", "signature",
))  # fmt: skip
# Of what Python's modules have instances in Triton that can be called, with nothing of a program's in them.
_TYPING = ("typing", "types")
# What functions of libraries in C are bound to.
_OF_C = (types.ModuleType, type(dt.datetime_CAPI))
# What functions of pybind11 are bound to since its version 3, which Triton 3.4 to 3.8 is built with. A function that
# is part of a property has no module.
_RECORD = "pybind11_detail_function_record"
_PARTIALS = (functools.partial, functools.partialmethod)
_INNER = ("__func__", "__wrapped__", "fn", "func")


class _Seen(NamedTuple):
    """What was in a module or a class: that it is Triton's is found out once, and later only that it is the same."""

    values: tuple[Any, ...]
    functions: list[types.FunctionType]  # those among the values, which a program may change in place
    states: list[tuple[Any, Any]]  # of these
    foreign: list[str]  # names of what is not Triton's
    classes: list[type]  # of a module, its own


#: What of a function is looked at and can be changed in place.
_state: Callable[[types.FunctionType], tuple[Any, Any]] = operator.attrgetter("__code__", "__dict__")
_seen: dict[str, _Seen] = {}
_known_files: dict[str, bool] = {}


def note_changes(backend: Any, note: Callable[[str, Any], None]) -> None:
    """Call ``note`` with a name and a value for each thing in Triton, and each backend, that is not Triton's."""
    found = [*_foreign(), *_of_backend(type(backend))]
    for name, value in sorted(found, key=operator.itemgetter(0)):
        for label, part in _foreign_parts(name, value):
            note(label, part)
    told = {name for name, _ in found}
    for kind in dict.fromkeys(_seen[core.__name__].classes):
        where = f"{core.__name__}.{kind.__qualname__}"
        for name, value in vars(kind).items():
            # Data do not tell whose they are, and every process has these classes.
            is_code = isinstance(value, _CODE) or hasattr(value, "fn") or f"{where}.{name}" in told
            if name[:2] != "__" and not is_code:
                note(f"{kind.__qualname__}.{name}", _names_of_code(value))


def _names_of_code(value: Any) -> Any:
    """Return the names of what a list holds, if that is functions of Triton's: such code counts if it is changed."""
    if type(value) is list and all(isinstance(part, _CODE) and _is_known(part) for part in value):
        return [f"{part.__module__}.{part.__qualname__}" for part in value]
    return value


def _foreign() -> Iterator[tuple[str, Any]]:
    for name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType or name.startswith(_APART) or name.partition(".")[0] != "triton":
            continue
        yield from _look(name, vars(module))
        for kind in _seen[name].classes:
            yield from _look(f"{name}.{kind.__qualname__}", vars(kind))


def _of_backend(backend: type) -> Iterator[tuple[str, Any]]:
    """Yield what is not Triton's in a backend: older versions load it as a module that is not in its package."""
    for kind in backend.__mro__:
        name = f"backend {kind.__module__}.{kind.__qualname__}"
        if _is_known(kind):
            yield from _look(name, vars(kind))
        else:
            yield name, kind


def _look(where: str, namespace: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is in a module or a class and is not Triton's."""
    seen = _seen.get(where)
    values = tuple(namespace.values())
    if seen is None or not _is_as_seen(seen, values):
        foreign = [
            name
            for name, value in list(namespace.items())
            if not _is_usual(value) and not _is_known(value) and name != _IN_KEY
        ]
        classes = [v for v in values if isinstance(v, type) and v.__module__ == where]
        functions = [v for v in values if type(v) is types.FunctionType]
        states = [(code, dict(held)) for code, held in map(_state, functions)]
        seen = _seen[where] = _Seen(values, functions, states, foreign, classes)
    for name in seen.foreign:
        yield f"{where}.{name}", namespace[name]


def _is_as_seen(seen: _Seen, values: tuple[Any, ...]) -> bool:
    same = len(seen.values) == len(values) and all(map(operator.is_, values, seen.values))
    return same and list(map(_state, seen.functions)) == seen.states


def _parts(value: property) -> tuple[Any, ...]:
    return (value.fget, value.fset, value.fdel)


def _foreign_parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is not Triton's in something in Triton, so that it is described and not taken for what holds it."""
    if isinstance(value, property):
        yield name, _parts(value)
    elif type(value) is types.FunctionType and _is_in_known_file(value):
        for label, part in _held_by(value):
            if not _is_known(part) and not _is_at_home(part):
                yield f"{name} {label}", part
        wrapped = getattr(getattr(value, "__wrapped__", None), "__dict__", {})
        for label, part in value.__dict__.items():
            if label not in _GIVEN and wrapped.get(label, wrapped) is not part:
                yield f"{name}.{label}", part
    elif type(value) in _PARTIALS and _is_known(value.func):
        yield f"{name} arguments", (value.args, value.keywords)
    else:
        yield name, getattr(value, "__func__", value)


def _is_at_home(value: Any) -> bool:
    """Whether something is in Triton under its own name, and is looked at there.

    Triton imports modules while it compiles, which hold the same things again.
    """
    found: Any = sys.modules.get(str(getattr(value, "__module__", "")))
    if not str(getattr(found, "__name__", "")).startswith("triton"):
        return False
    for part in str(getattr(value, "__qualname__", "")).split("."):
        found = getattr(found, part, None)
    return found is value


def _held_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function holds: its variables from around it, and the attributes that such functions have."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    for name, value in function.__dict__.items():
        if name in _GIVEN:
            yield name, value


def _is_usual(value: Any) -> bool:
    """Whether something is known at a glance: most of what is in Triton is."""
    kind = type(value)
    if kind is types.FunctionType:
        return not value.__dict__ and value.__closure__ is None and _known_files.get(value.__code__.co_filename, False)
    return kind in _HOLD_NOTHING or kind.__module__ == "nanobind"


def _is_known(value: Any, met: tuple[int, ...] = ()) -> bool:
    """Whether something is Triton's, or can be in Triton without the program's doing. ``met``: what it is a part of."""
    kind = type(value)
    if kind in _HOLD_NOTHING or id(value) in met:
        return True
    if kind is types.FunctionType:
        if not _is_in_known_file(value) or not _GIVEN.issuperset(value.__dict__):
            return False
        inside = (*met, id(value))
        return all(type(part) in _HOLD_NOTHING or _is_known(part, inside) for _, part in _held_by(value))
    if kind.__module__ == "nanobind":
        return True
    if kind is types.BuiltinFunctionType:
        return _is_known_in_c(value)
    if isinstance(value, type):
        return _is_known_type(value)
    if kind is property:
        return all(part is None or _is_known(part, met) for part in _parts(value))
    if kind in _PARTIALS:  # its arguments count
        return False
    # A method, a decorated function, a function of Triton's kind.
    inside = (*met, id(value))
    inner = [part for part in (getattr(value, name, None) for name in _INNER) if part is not None]
    if not _is_root(kind.__module__) or not all(_is_known(part, inside) for part in inner):
        return False
    of_python = str(kind.__module__).partition(".")[0] not in ("triton", *_TYPING)
    return bool(inner) or not of_python or not callable(value)


def _is_known_in_c(function: types.BuiltinFunctionType) -> bool:
    """The same of a function in C: a method, if it is bound to something; a capsule is its library's."""
    bound = function.__self__
    if type(bound).__name__.startswith(_RECORD):
        return function.__module__ is None or _is_root(function.__module__)
    return bound is None or type(bound) in _OF_C or _is_known_type(bound)


def _is_known_type(value: Any) -> bool:
    return isinstance(value, type) and (_is_root(value.__module__) or _is_in_known_files(value))


def _is_root(module: object) -> bool:
    root = str(module).partition(".")[0]
    return root in _ROOTS or not hasattr(sys, "stdlib_module_names")


def _is_in_known_files(kind: type) -> bool:
    """Whether a class has functions, and all are in known files."""
    functions = [value for value in vars(kind).values() if type(value) is types.FunctionType]
    return bool(functions) and all(map(_is_in_known_file, functions))


def _is_in_known_file(function: types.FunctionType) -> bool:
    path = function.__code__.co_filename
    if path == _MADE:
        return function.__name__.startswith("__")
    known = _known_files.get(path)
    if known is None:
        of_python = path.startswith(_PYTHONS) and not any(packages in path for packages in _PACKAGES)
        known = _known_files[path] = of_python or path.startswith((*_OURS, _FROZEN))
    return known
