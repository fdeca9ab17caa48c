"""Dependencies of a function that CuTe DSL traces: all that a trace can see, as bytes for a key.

The DSL traces by running Python code, which can see nearly everything. The walk
follows functions, globals, closures, defaults, classes and objects by value. It raises
``Unkeyable`` for what it cannot follow; then the function is traced. Too much in a key
costs a trace, too little gives a wrong result. Files and lines count only if they are
in the result.
"""

from __future__ import annotations

import abc
import collections
import contextlib
import enum
import functools
import operator
import sys
import types as pytypes
import typing
from typing import TYPE_CHECKING, Any, Callable, ClassVar

from jitcache._code import PLAIN, Unkeyable, code_of, content_of
from jitcache._dependency_walk import DependencyWalker, below, given, told

from ._arguments import Shapes
from ._memory import Memory
from ._text import file_of, lines_of, places_of, text_of
from ._visibility import (
    BOOKKEEPING,
    BY_NAME,
    DEVICE,
    OF_EVERY_CLASS,
    PREFIX,
    SETS_PREFIX,
    UNDESCRIBABLE,
    behind,
    global_names,
    is_added,
    is_dsl,
    is_importable,
    is_of_a_program,
    is_opaque,
    module_of,
    names_in,
    owner_of,
    python_owner,
    state_of,
    uses_computed_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_ITEMS = 10_000


def _descriptor(walker: DependencyWalker, value: Any) -> None:
    """Put a method or attribute of a class that is written in C, or a slot."""
    cls = value.__objclass__
    if isinstance(value, (pytypes.MethodDescriptorType, pytypes.ClassMethodDescriptorType)) and not owner_of(
        cls.__module__
    ):
        raise Unkeyable("compiled function", f"{cls.__module__}.{cls.__qualname__}.{value.__name__}")
    walker._put("descriptor", f"{cls.__module__}.{cls.__qualname__}.{value.__name__}".encode())


def _field(walker: DependencyWalker, value: Any) -> None:
    """Put a field of a named tuple."""
    walker._put("field", str(value.__reduce__()[1][0]).encode())


def _type_variable(walker: DependencyWalker, value: Any) -> None:
    walker._put("type variable", value.__name__.encode())
    walker._value((value.__bound__, value.__constraints__))


_FIELD: type = type(vars(collections.namedtuple("_", "x"))["x"])  # noqa: PYI024 - the kind of its fields


class Walker(DependencyWalker):
    """The walk over everything that Python code can see."""

    def __init__(self, before: Walker | None = None, *, places: bool = False) -> None:
        """``before`` is a walk over the same values before a trace; with ``places``, places in the source count."""
        super().__init__()
        self.memories: dict[int, Memory] = {}  # of memoised functions, by their ids
        self._memoised_around: tuple[Any, ...] = ()  # the memoised functions inside which this walk is
        self._before = before
        self._prefixes: dict[int, Any] = {}  # of the symbols of functions, by the functions' ids
        self._places = places
        self._space: dict[str, Any] = {}  # the globals of the function that is described
        self._references: set[tuple[str, int]] = set()  # forward references, and ids of the globals for their names
        self._by_name = ""  # a function that computes names while it runs
        self._modules: dict[int, pytypes.ModuleType] = {}  # the modules that are described in part
        self._names: set[str] = set()  # all names that functions ask for

    def describe(self, value: Any) -> bytes:
        """Return a value as bytes. Raises Unkeyable if not all of it can be seen."""
        found = self._within(self._value, value)
        self._check()
        return found

    def root(self, wrapper: Any) -> dict[str, bytes]:
        """Return what a ``@cute.jit`` function depends on, by label: itself, defaults, each global and each cell."""
        *wrappers, function = behind(wrapper)
        marks = b"".join(self._within(self._marks, w) for w in wrappers)
        self._number(function)
        names: tuple[str, ...] = ()
        attributes: tuple[str, ...] = ()

        def text(function: pytypes.FunctionType) -> None:
            nonlocal names, attributes
            names, attributes = self._text(function)

        out = {"function": marks + self._within(text, function)}
        self._note_names(function, names, attributes)
        with self._among(function.__globals__):
            out["defaults"] = self._within(self._value, (function.__defaults__, function.__kwdefaults__))
            for label, value, seen in self._around(function, names, attributes):
                out[label] = self._within(self._value, value, seen)
        self._check()
        return out

    def _check(self) -> None:
        for module in self._modules.values():
            if self._by_name:
                raise Unkeyable("names made while running", f"{self._by_name}, with {module.__name__}")

    def _unknown(self, value: Any) -> None:
        if typing.get_origin(value) is not None:
            self._generic(value)
        else:
            self._object(value)

    def _module(self, module: pytypes.ModuleType, names: tuple[str, ...] | None) -> None:
        self._put("module", module.__name__.encode())
        owner = module_of(getattr(module, "__file__", None), module.__name__)
        if owner:
            self._additions(module, names or (), owner)
            return
        if names is None:
            raise Unkeyable("module as a value", module.__name__)
        if "__getattr__" in module.__dict__ or type(module) is not pytypes.ModuleType:
            raise Unkeyable("module with __getattr__", module.__name__)
        self._modules[id(module)] = module
        for name in names:
            self._attribute(module, name, names)

    def rest(self) -> bytes:
        """Return what any function names in any module: a function may pass a module on to another one."""
        return self._within(self._rest)

    def _rest(self) -> None:
        while True:
            size = len(self._names), len(self._modules)
            names = tuple(sorted(self._names))
            for module in list(self._modules.values()):
                for name in names:
                    self._attribute(module, name, names)
            if size == (len(self._names), len(self._modules)):
                break
        self._check()

    def _is_added(self, value: Any, owner: str) -> bool:
        return is_added(value, owner)

    def _function(self, function: pytypes.FunctionType) -> None:
        if is_dsl(function.__code__.co_filename) or python_owner(function):
            self._of_the_dsl(function)
        elif not self._again(function):
            self._whole(function, *self._plain(function))

    def _of_the_dsl(self, function: pytypes.FunctionType) -> None:
        """Put a function of the DSL or of Python: its name, defaults and cells, and the function that it wraps."""
        if function.__name__ in DEVICE:
            raise Unkeyable("asks the device", function.__qualname__)
        if self._again(function):
            return
        self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
        self._value((function.__defaults__, function.__kwdefaults__))
        decorator = is_dsl(function.__code__.co_filename)
        for cell in function.__closure__ or ():
            inner = content_of(cell)
            if decorator and isinstance(inner, pytypes.FunctionType) and not is_dsl(inner.__code__.co_filename):
                self._marks(function)
                if not self._again(inner):  # the function of a @cute.jit or @cute.kernel
                    self._whole(inner, *self._text(inner))
            else:
                self._value(inner)

    def _text(self, function: pytypes.FunctionType) -> tuple[tuple[str, ...], tuple[str, ...]]:
        self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
        text = text_of(function)
        if self._places:
            self._put("places", places_of(function).encode("utf-8", "surrogatepass"))
        self._put("text", text.tree.encode("utf-8", "surrogatepass"))
        # The annotations as they were evaluated at the definition: the names in them may mean something else by now.
        with self._among(function.__globals__):
            self._value(function.__annotations__)
        self._marks(function)
        return text.names, text.attributes

    def _marks(self, function: pytypes.FunctionType) -> None:
        """Put the attributes that programs and decorators have set on a function."""
        marks = {name: value for name, value in function.__dict__.items() if not BOOKKEEPING.match(name)}
        prefix = self._prefixes[id(function)] = marks.pop(PREFIX, None)
        if self._before is not None and SETS_PREFIX in self._before._names:
            prefix = self._before._prefixes.get(id(function))  # the trace itself may have set another
        if prefix is not None:
            marks[PREFIX] = prefix
        for name, value in sorted(marks.items()):
            self._put("mark", name.encode())
            self._value(value)

    def _plain(self, function: pytypes.FunctionType) -> tuple[tuple[str, ...], tuple[str, ...]]:
        self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
        code, names, texts = code_of(function.__code__)
        self._put("code", code)
        if self._places:
            self._put("places", lines_of(function.__code__))
        self._marks(function)
        used = global_names(function.__code__)
        return used, (*(n for n in names if n not in used), *texts)

    def _whole(self, function: pytypes.FunctionType, names: tuple[str, ...], attributes: tuple[str, ...]) -> None:
        self._note_names(function, names, attributes)
        with self._among(function.__globals__):
            self._surroundings(function, names, attributes)

    @contextlib.contextmanager
    def _among(self, space: dict[str, Any]) -> Iterator[None]:
        """Within the block, look up names in forward references in ``space``, the globals of a function."""
        outer, self._space = self._space, space
        try:
            yield
        finally:
            self._space = outer

    def _note_names(self, function: pytypes.FunctionType, names: tuple[str, ...], attributes: tuple[str, ...]) -> None:
        self._names.update(names, attributes)
        if uses_computed_names(function, names, attributes):
            self._by_name = function.__qualname__

    def _memoised(self, function: Any) -> None:
        """Put a memoised function: what it wraps, and those remembered results that may come from other values."""
        if self._again(function):
            return
        self._put("memoised", f"{function.__module__}.{function.__qualname__} {function.cache_parameters()}".encode())
        if any(function is outer for outer in self._memoised_around):
            return
        memory = self.memories.get(id(function)) or self._memory(function)
        self._put("around", memory.described or file_of(function.__wrapped__))
        before = self._before.memories.get(id(function)) if self._before is not None else None
        for row in sorted(item.described for item in memory.foreign(before)):
            self._put("remembered", row)

    def _memory(self, function: Any) -> Memory:
        inside = self._apart(function)
        try:
            described = inside.describe(function.__wrapped__) + inside.rest()
            self._names.update(inside._names)
            self._by_name = self._by_name or inside._by_name
        except Unkeyable:
            described = None  # then a trace must not run it, see _memory.py
        found = Memory.of(function, described, lambda *item: self._apart(function).describe(item))
        return self.memories.setdefault(id(function), found)

    def _apart(self, function: Any) -> Walker:
        """Return a walk for what a memoised function wraps. It has met nothing yet."""
        walker = Walker(self._before, places=self._places)
        walker._depth = self._depth + 1
        walker._memoised_around = (*self._memoised_around, function)
        walker.memories = self.memories
        return walker

    def _method_wrapper(self, value: Any) -> None:
        self._put("wrapper", value.__name__.encode())
        self._value(value.__self__)

    def _builtin(self, value: Any) -> None:
        owner = value.__self__
        if owner is not None and not isinstance(owner, (pytypes.ModuleType, type)):
            self._value(owner)
        if not owner_of(value.__module__):
            if value.__module__ is not None:
                raise Unkeyable("compiled function", f"{value.__module__}.{value.__qualname__}")
        elif value.__name__ in UNDESCRIBABLE and value.__module__ == "builtins":
            raise Unkeyable("sees what has no name", value.__name__)
        elif value.__name__ in BY_NAME:
            self._by_name = value.__name__
        self._put("builtin", f"{value.__module__}.{value.__qualname__}".encode())

    def _class(self, cls: type) -> None:
        self._put("class", f"{cls.__module__}.{cls.__qualname__} {cls.__name__}".encode())
        if cls.__name__ in DEVICE:
            raise Unkeyable("asks the device", cls.__qualname__)
        if cls in (operator.attrgetter, operator.methodcaller):
            self._by_name = cls.__name__
        self._told(cls)
        # Classes that the DSL makes from arguments may differ under one name, so only importable ones count by name.
        if (owner_of(cls.__module__) and is_importable(cls)) or self._again(cls):
            return
        if is_opaque(cls):
            raise Unkeyable("compiled class", cls)
        self._value(type(cls))
        for base in cls.__bases__:
            self._value(base)
        for name, attribute in sorted(vars(cls).items()):
            if name not in OF_EVERY_CLASS:
                self._put("member", name.encode())
                self._value(attribute)
        self._annotated(cls)

    def _told(self, cls: type) -> None:
        """Put the program's classes that are registered with an abstract class, or with one derived from it."""
        if "_abc_impl" in vars(cls) and cls is not abc.ABC:
            found = {f"{c.__module__}.{c.__qualname__}" for b in below(cls) for c in told(b) if is_of_a_program(c)}
            self._put("told", repr(sorted(found)).encode())

    def _annotated(self, cls: type) -> None:
        """Put what the names mean in those annotations of a class that are text."""
        space = getattr(sys.modules.get(cls.__module__), "__dict__", {})
        for text in vars(cls).get("__annotations__", {}).values():
            if isinstance(text, str):
                self._named(text, space)

    def _enum(self, value: enum.Enum) -> None:
        self._value(type(value))
        self._put("member", value.name.encode())
        self._value(given(value))

    def _items(self, value: Any) -> None:
        if len(value) > _MOST_ITEMS:
            raise Unkeyable("large value", f"{type(value).__qualname__} of {len(value)}")
        if type(value) not in (tuple, list):
            self._object(value)
        elif isinstance(value, list) and self._again(value):
            return
        self._put(type(value).__name__, str(len(value)).encode())
        for item in value:
            self._value(item)

    def _set(self, value: Any) -> None:
        self._put(type(value).__name__, str(len(value)).encode())
        for item in value:  # objects would be numbered in the order of the set
            if type(item) not in PLAIN:
                raise Unkeyable("set of objects", type(item))
        for described in sorted(self._within(self._value, item) for item in value):
            self._put("item", described)

    def _dict(self, value: Any) -> None:
        if self._again(value):
            return
        if len(value) > _MOST_ITEMS:
            raise Unkeyable("large value", f"dict of {len(value)}")
        self._put(type(value).__qualname__, str(len(value)).encode())
        if type(value) not in (dict, pytypes.MappingProxyType):
            raise Unkeyable("object", type(value))
        for key, item in value.items():  # in the order of the dict, which a loop over it sees
            self._value(key)
            self._value(item)

    def _reference(self, value: typing.ForwardRef) -> None:
        """Put a forward reference: its text, and what the names in it mean where the annotation is."""
        text = value.__forward_arg__
        self._put("reference", text.encode())
        if (text, id(self._space)) not in self._references:
            self._references.add((text, id(self._space)))
            self._named(text, self._space)

    def _named(self, text: str, space: Mapping[str, Any]) -> None:
        names, attributes = names_in(text)
        for name in names:
            if name in space:
                self._put("named", name.encode())
                self._value(space[name], (*names, *attributes))

    def _generic(self, value: Any) -> None:
        self._put("generic", repr(typing.get_origin(value)).encode())
        for item in typing.get_args(value):
            self._value(item)

    def _object(self, value: Any) -> None:
        """Put an object: its class and all of its state."""
        cls = type(value)
        owner = owner_of(cls.__module__)
        if cls.__name__ == "BitCode":
            raise Unkeyable("linked file", value)
        if owner == "dsl" and cls.__module__.startswith("cuda.bindings"):
            self._put("handle", cls.__qualname__.encode())
            return
        if self._again(value):
            return
        self._value(cls)
        key = getattr(value, "__cache_key__", None) if owner == "dsl" else None
        if isinstance(key, tuple) and "Fake" not in cls.__name__:
            # A tensor or pointer with data: its own key describes it without the data. (A fake one's has addresses.)
            self._value(key)
            self._put("declared", Shapes().of(value))
            return
        state = state_of(value)
        if state is None:
            raise Unkeyable("object", f"{cls.__module__}.{cls.__qualname__}")
        for name in sorted(state):
            self._put("state", name.encode())
            self._value(state[name])

    kinds: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        pytypes.FunctionType: _function,
        pytypes.MethodType: DependencyWalker._method,
        pytypes.BuiltinFunctionType: _builtin,
        pytypes.MethodDescriptorType: _descriptor,
        pytypes.ClassMethodDescriptorType: _descriptor,
        pytypes.WrapperDescriptorType: _descriptor,
        pytypes.MemberDescriptorType: _descriptor,
        pytypes.GetSetDescriptorType: _descriptor,
        pytypes.MethodWrapperType: _method_wrapper,
        _FIELD: _field,
        functools._lru_cache_wrapper: _memoised,
        typing.ForwardRef: _reference,
        functools.partial: DependencyWalker._partial,
        staticmethod: DependencyWalker._method,
        classmethod: DependencyWalker._method,
        property: DependencyWalker._property,
        typing.TypeVar: _type_variable,
        type: _class,
        enum.Enum: _enum,
        slice: DependencyWalker._slice,
        tuple: _items,
        list: _items,
        set: _set,
        frozenset: _set,
        dict: _dict,
        pytypes.MappingProxyType: DependencyWalker._proxy,
    }
