"""Classes that a function reaches, and types as annotations have them, as bytes for a key."""

from __future__ import annotations

import enum
import re
import types
from typing import Any

from jitcache._code import Unkeyable, code_of
from jitcache._dependency_walk import DependencyWalker, below, given, text_of, told

from .order import is_elsewhere
from .origin import OWN, Origin, origin_of, origin_of_module

_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: of a class that is not built in
_PATTERNS = 1 << 5 | 1 << 6  # Py_TPFLAGS_SEQUENCE, Py_TPFLAGS_MAPPING: what ``match`` takes it for
#: The modules of the classes of Python's own type expressions: list[int], int | None, typing.Optional.
_OF_TYPES = frozenset(("builtins", "types", "typing"))
_ADDRESS = re.compile("0x[0-9a-f]+")


def is_own(cls: type, unknown: bool = True) -> bool:
    """Return whether a class may come from a file that belongs neither to Python nor to an installed package."""
    try:
        return origin_of_module(str(cls.__module__)).kind == OWN
    except Unkeyable:
        return unknown


def _functions_of(value: Any) -> list[types.FunctionType]:
    """Return the functions in Python that an attribute of a class is made of."""
    parts = (
        (value.fget, value.fset, value.fdel) if isinstance(value, property) else (getattr(value, "__func__", value),)
    )
    return [part for part in parts if isinstance(part, types.FunctionType)]


class ClassWalker(DependencyWalker):
    """The part of the walk that describes classes."""

    # Of these names the file of the class says enough.
    of_classes = DependencyWalker.of_classes | {
        "__dataclass_fields__", "__dataclass_params__", "__orig_bases__", "__parameters__", "__type_params__",
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._where = ""  # the module of the class that is described

    # -- of Reach

    def origin(self, origin: Origin, module: str, name: str) -> bool:
        """Put the origin of something, or refuse it; return whether its parts must be described."""
        raise NotImplementedError

    # -- the rules

    def _class(self, cls: type) -> None:
        module = str(cls.__module__)
        self._put("class", f"{module}.{cls.__qualname__} {cls.__name__} {cls.__flags__ & _PATTERNS}".encode())
        claims = is_elsewhere(cls)
        if module == "builtins" and not claims:
            return
        described = self.origin(origin_of_module(module), module, cls.__qualname__.partition(".")[0]) or claims
        self._registered(cls)
        if not described:
            self._patches(cls)
        elif not self._again(cls):
            where, self._where = self._where, module
            for base in (*cls.__mro__[1:-1], type(cls)):
                self._value(base)
            self._members(cls)
            self._said(text_of(cls), vars(cls).get("__annotations__"))
            self._where = where

    def _said(self, text: str, annotations: Any) -> None:
        """Put the docstring and the annotations of a class or function: a program may have set them."""
        self._put("says", text.encode())
        for name, annotation in annotations.items() if isinstance(annotations, dict) else ():
            self._put("annotation", name.encode())
            self._annotation(annotation)

    def _annotation(self, said: Any) -> None:
        """Put an annotation by value; a type expression of Python's by its text and then by its parts."""
        cls = said if isinstance(said, type) else type(said)
        if cls.__module__ not in _OF_TYPES and (cls is not said or is_own(cls)):
            self._value(said)
            return
        shown = repr(said)
        self._put("type", (_ADDRESS.sub("", shown) if "0x" in shown else shown).encode())
        for part in (*getattr(said, "__args__", ()), *getattr(said, "__metadata__", ())):
            self._annotation(part)

    def _members(self, cls: type) -> None:
        """Put the members, also those that do not follow from the file: a call may have made the class."""
        super()._members(cls)
        self._put("abstract", repr(sorted(vars(cls).get("__abstractmethods__", ()))).encode())
        names = [name for name, value in vars(cls).items() if not self._says_nothing(cls, name, value)]
        self._put("order", repr(names).encode())
        for base in vars(cls).get("__orig_bases__", ()):
            self._annotation(base)
        fields: Any = vars(cls).get("__dataclass_fields__")
        for field in fields.values() if isinstance(fields, dict) else ():
            said = ("name", "_field_type", "init", "repr", "hash", "compare", "kw_only", "doc")
            self._put("field", repr([getattr(field, name, None) for name in said]).encode())
            self._annotation(field.type)
            for value in (field.default, field.default_factory, field.metadata or None):
                # The marker for "none given" belongs to dataclasses.
                self._put("none") if type(value).__module__ == "dataclasses" else self._value(value)
        for name, value in sorted(vars(cls).items()) if issubclass(cls, enum.Enum) else ():
            # Not the tables that Python makes of the members, which are described.
            if name.startswith("_") and isinstance(value, (int, str, enum.Enum)) and not isinstance(value, cls):
                self._put("of all", name.encode())
                self._value(value)

    def _property(self, value: property) -> None:
        super()._property(value)
        self._value((getattr(value, "__name__", None), value.__doc__))

    def _registered(self, cls: type) -> None:
        """Put the classes that are registered with an abstract class."""
        if "_abc_impl" not in vars(cls):
            return
        named: dict[str, Any] = {}
        for abstract in below(cls):  # it accepts what these accept
            own = is_own(abstract)
            found = told(abstract)
            asked = "__subclasshook__" in vars(abstract) or is_own(type(abstract))
            if own and abstract is not cls and asked:
                found.append(abstract)
            named.update((f"{c.__module__}.{c.__qualname__}", c) for c in found if own or c.__flags__ & _HEAP)
        for name, registered in sorted(named.items()):
            self._put("registered", name.encode())
            if is_own(registered):
                self._value(registered)

    def _patches(self, cls: type) -> None:
        """Put what a program may have set in a class of somebody else: plain attributes, and foreign functions."""
        for base in cls.__mro__:
            if base.__module__ == "builtins":
                continue
            for name, value in sorted(vars(base).items()):
                functions = _functions_of(value)
                if (type(value) in self.plain and not name.startswith("__")) or type(value) is re.Pattern:
                    self._put("set", name.encode())
                    self._value(value)
                elif not functions and type(value).__module__ != "builtins" and is_own(type(value), unknown=False):
                    self._put("patch", name.encode())
                    self._value(value)
                for function in functions:
                    self._method_of_others(name, function)

    def _method_of_others(self, name: str, function: types.FunctionType) -> None:
        """Put the origin of a function in somebody else's class, and its plain defaults."""
        code = function.__code__
        origin = origin_of(code.co_filename)
        self._put("method", f"{name} {code.co_name} {code.co_firstlineno}".encode())
        for value in function.__defaults__ or ():
            if type(value) in self.plain:
                self._value(value)
        if origin.kind == OWN and origin.name:
            self._value(function)
        elif origin.kind == OWN:  # made of a text, as dataclasses do
            self._put("code", code_of(code)[0])

    def _member(self, value: enum.Enum) -> None:
        self._class(type(value))
        self._put("member", str(value._name_).encode())
        self._value((value._value_, given(value)))
