"""What programs and packages have put into Numba's own modules, where any compile may come across it.

Numba keeps rewrites, extensions of its passes and more in lists and dictionaries of its
modules, classes and registries, and runs what it finds there. All of them are looked at,
whatever they are for: what is not Numba's own counts for every function. So do functions
and classes that stand where Numba had its own.
"""

from __future__ import annotations

import functools
import os
import sys
import types as pytypes
from collections import UserDict
from typing import TYPE_CHECKING, Any

from numba.core import cgutils, event, serialize, typeinfer, types
from numba.core.dispatcher import Dispatcher
from numba.core.target_extension import CPU, Target
from numba.core.types import abstract

from jitcache._fork import ForkLock

from ._code import HEAP, is_quiet, versioned_module
from ._registered import registrations

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

# Not those that hold their items weakly, in which Numba remembers what others keep.
_CONTAINERS = (dict, list, set, tuple, frozenset, UserDict)
_DEEPEST = 4  # containers in containers

# What does not count: what else Numba remembers of what it was given, since who comes across it has been given it, too,
# and that counts by itself; and who is told what happens and has no say in it.
_LEFT_OUT: tuple[Any, ...] = (
    abstract._typecache, cgutils._struct_proxy_cache, event._registered, serialize._unpickled_memo,
    typeinfer._temporary_dispatcher_map, typeinfer._temporary_dispatcher_map_ref_count,
)  # fmt: skip


class _Owned(dict[str, bool]):
    """Whether a module, by its name, is Python's, Numba's or NumPy's."""

    def __missing__(self, name: str) -> bool:
        module = sys.modules.get(name)
        self[name] = name != "__main__" and module is not None and versioned_module(module)
        return self[name]


_owned = _Owned()


def _is_owned(cls: type) -> bool:
    """Whether a class is of such a module. Numba's own that are made in C name some that are not there."""
    return _owned[cls.__module__] or (not cls.__flags__ & HEAP and cls.__module__ not in sys.modules)


def _is_owned_function(value: Any) -> bool:
    """Whether a value is a function of Cython's, for which all packages share a class, and is of such a module."""
    has_file = getattr(sys.modules.get(type(value).__module__), "__file__", None) is not None
    return not has_file and _owned[str(getattr(value, "__module__", None))]


# Functions, and what is made of one. It has that under one of these names.
_CODE = (
    pytypes.FunctionType, pytypes.MethodType, staticmethod, classmethod, property, functools.partial,
    functools.cached_property, type(functools.lru_cache(len)),
)  # fmt: skip
_FUNCTION_OF = ("py_func", "func", "fget", "__func__", "__wrapped__")


def _kind(cls: type) -> str:
    bases = cls.__mro__  # issubclass takes 60 ms for all of them, as many are abstract classes
    if Dispatcher in bases or any(c in bases for c in _CODE):
        return "code"
    if any(c in bases for c in _CONTAINERS):
        return "items"
    if type in bases:
        return "class"
    return "space" if cls.__module__.startswith("numba.") and types.Type not in bases else ""


class _Kinds(dict[type, str]):
    """What a value of a class is or has: "code", "items", a "class", a "space" of names, or nothing of these."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: set[type] = set()  # classes of values that are nothing of these, and not of others

    def __missing__(self, cls: type) -> str:
        kind = self[cls] = _kind(cls)
        if not kind and _is_owned(cls):
            self.plain.add(cls)
        return kind


_kinds = _Kinds()


def _is_of_others(value: Any) -> bool:
    """Whether a function, a class or an object is of others."""
    kind = _kinds[type(value)]
    if kind == "class":
        return not _is_owned(value)
    if kind != "code":
        return not _is_owned(type(value)) and not _is_owned_function(value)
    if type(value) is pytypes.FunctionType:
        return not is_quiet(value.__code__.co_filename) and not _is_generated(value)
    return any(_is_of_others(getattr(value, name)) for name in _FUNCTION_OF if hasattr(value, name))


def _is_generated(function: pytypes.FunctionType) -> bool:
    """Whether Python has generated a function without a file, as it does for a named tuple, in a module of Numba's."""
    if os.path.isabs(function.__code__.co_filename):
        return False
    space = function.__globals__
    module = sys.modules.get(str(space.get("__name__")))
    return not space.get("__builtins__", True) or (module is not None and versioned_module(module))


class _Module:
    """A module of Numba's: what others have put in it and its classes, and the containers that it has."""

    def __init__(self, module: pytypes.ModuleType) -> None:
        self.space = module.__dict__
        self._name = module.__name__
        self._spaces: list[tuple[Any, list[Any]]] = []  # of the module, its classes and objects, with the values then
        self.others: list[tuple[Any, ...]] = []
        self.containers: list[tuple[str, str, Any]] = []

    def has_changed(self, *, everywhere: bool) -> bool:
        """Return whether a name of the module, or ``everywhere`` in it, has changed its meaning since the last look."""
        try:
            return not self._spaces or any(
                list(space.values()) != values for space, values in (self._spaces if everywhere else self._spaces[:1])
            )
        except Exception:  # noqa: BLE001 - arrays, say, that are not the same object are not compared as one
            return True

    def look(self, spaces: Container[int]) -> None:
        """Look at the module, its classes, and the objects in it. ``spaces`` are the ids of all modules' globals."""
        self._spaces, self.others, self.containers = [], [], []
        for name, value in self._look_in(self._name, self.space, spaces):
            space = getattr(value, "__dict__", None)
            if space:
                self._look_in(f"{self._name}.{name}", space, spaces)

    def _look_in(self, owner: str, space: Any, spaces: Container[int]) -> list[tuple[str, Any]]:
        """Note what is of others in a namespace, and its containers. Return what has a namespace of its own."""
        self._spaces.append((space, list(space.values())))
        function, plain = pytypes.FunctionType, _kinds.plain
        # There are 18,000 values, most of them Numba's functions.
        rows = [
            (name, value, _kinds[type(value)])
            for name, value in list(space.items())
            if (id(value.__globals__) not in spaces if type(value) is function else type(value) not in plain)
        ]
        inside = []
        for name, value, kind in rows:
            if name[:2] == "__" and kind != "code":
                continue
            if kind == "items":
                self.containers.append((owner, name, value))
            elif kind == "space" or (kind == "class" and value.__module__ == self._name):
                inside.append((name, value))
            elif (kind or callable(value)) and _is_of_others(value):
                self.others.append((f"{owner}.{name}", value))
        return inside


def _within(name: str, container: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield a container and those in it, with their names. Numba's rewrites are in lists in a dictionary."""
    yield name, container
    if depth < _DEEPEST:
        has_keys = hasattr(container, "items")
        for key, item in list(container.items()) if has_keys else enumerate(container):
            if _kinds[type(item)] == "items":
                yield from _within(f"{name} {key}" if has_keys else name, item, depth + 1)


def _is_another_target(value: Any) -> bool:
    """Whether a value is a target other than the CPU: numba-cuda puts what is for its own where we look."""
    return isinstance(value, type) and issubclass(value, Target) and not issubclass(CPU, value)


def _others_in(name: str, container: Any) -> Iterator[tuple[Any, ...]]:
    """Yield what is of others in a container: where it is, its key in a dictionary, and itself."""
    plain = _kinds.plain
    for key, item in list(container.items()) if hasattr(container, "items") else [(None, item) for item in container]:
        some = [v for v in (key, item) if type(v) not in plain]
        if any(map(_is_of_others, some)) and not any(map(_is_another_target, some)):
            yield name, key, item


def _is_known(container: Any) -> bool:
    """Whether a container is looked at elsewhere, or does not count."""
    return registrations.has(container) or any(container is c for c in _LEFT_OUT)


_lock = ForkLock()


class Placed:
    """All that others have put into Numba's modules, as far as these are imported."""

    def __init__(self) -> None:
        self._modules: dict[str, _Module] = {}
        self._imported = 0  # how many modules there were at the last look, of all packages
        self._containers: list[tuple[str, Any]] = []
        self._items: list[Any] = []  # the containers alone
        self._total = 0  # how many items they have in all
        self._pairs: list[tuple[Any, Any]] = []  # each that has more than plain values, and a copy of it
        self._others: list[tuple[Any, ...]] = []

    def look(self, *, everywhere: bool = False) -> list[tuple[Any, ...]]:
        """Return what others have put there, each with where it is.

        Whether names of modules stand for something else is looked at if anything has been
        imported since. That of names in classes, only ``everywhere``: it takes 1 ms.
        """
        with _lock():
            changed = self._changed(everywhere)
            if changed:
                self._look_at(changed)
            if changed or not self._are_same():
                self._look_in()
            return self._others

    def _changed(self, everywhere: bool) -> list[_Module]:
        if len(sys.modules) == self._imported and not everywhere:
            return []
        self._imported = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if (name == "numba" or name.startswith("numba.")) and name not in self._modules and _is_own(module):
                self._modules[name] = _Module(module)
        return [m for m in self._modules.values() if m.has_changed(everywhere=everywhere)]

    def _look_at(self, changed: list[_Module]) -> None:
        registrations.all()  # it notes which containers it looks at
        spaces = {id(m.space) for m in self._modules.values()}
        for module in changed:
            module.look(spaces)
        found = {id(c): (f"{owner}.{name}", c) for m in self._modules.values() for owner, name, c in m.containers}
        self._containers = [(name, c) for name, c in found.values() if not _is_known(c)]

    def _look_in(self) -> None:
        within = [row for name, c in self._containers for row in _within(name, c)]
        self._items = [c for _, c in within]
        self._total = sum(map(len, self._items))
        more = (c for c in self._items if hasattr(c, "copy") and not _kinds.plain.issuperset(map(type, c)))
        self._pairs = [(c, c.copy()) for c in more]
        self._others = [other for m in self._modules.values() for other in m.others]
        self._others += [other for name, container in within for other in _others_in(name, container)]

    def _are_same(self) -> bool:
        try:
            return sum(map(len, self._items)) == self._total and all(now == was for now, was in self._pairs)
        except Exception:  # noqa: BLE001 - as in has_changed
            return False


def _is_own(module: Any) -> bool:
    """Whether a module under a name of Numba's is Numba's: numba-cuda puts its own under ``numba.cuda``."""
    return isinstance(module, pytypes.ModuleType) and module.__name__.startswith("numba") and versioned_module(module)


placed = Placed()
