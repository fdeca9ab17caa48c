"""The dependency walk: everything that a function reaches, as bytes for a key.

The rules for values depend on the framework that compiles the function: each adapter
has a subclass with its rules.
"""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import builtins
import enum
import functools
import gc
import types as pytypes
from typing import TYPE_CHECKING, Any, Callable, ClassVar

from ._code import PLAIN, Unkeyable, content_of, is_standard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 100
_BUILTINS = vars(builtins)
#: What a member of an enumeration may be beside that.
_MIXED = (int, float, complex, str, bytes, tuple)
#: What a static method has from its function.
_OF_WRAPPERS = frozenset((*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"))
_ENUM_PROPERTY = getattr(enum, "property", pytypes.DynamicClassAttribute)


class _Kind(enum.IntFlag):
    A = 1


#: What Python puts into each enumeration, and into each member beside its name.
_OF_ENUMS = frozenset(name for cls in (_Kind, enum.Enum, enum.Flag) for name in vars(cls) if name.startswith("_"))
_OF_MEMBERS = frozenset(("__objclass__", "_inverted_", "_sort_order_", "_value_"))


class DependencyWalker:
    """A walk over everything that some values reach. One walker serves one key.

    Values that are equal by the rules give equal bytes in every process. A value that
    is met again is described by its number in the walk, so cycles end; no address,
    file or line is in the bytes. A value that the rules do not know raises
    ``Unkeyable``: nothing is left out. Too much in a key costs another compile, too
    little gives a wrong result.
    """

    #: The encoders of values of exactly these types.
    plain: ClassVar[Mapping[type, Callable[[Any], bytes]]] = PLAIN
    #: The methods that describe other values, by a base of the value's class.
    kinds: ClassVar[Mapping[type, Callable[[Any, Any], None]]] = {}
    #: Attributes of a class that say nothing beyond its bases, its other attributes and its file, by name,
    of_classes: ClassVar[frozenset[str]] = frozenset((
        "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__",
        "__doc__", "__firstlineno__", "__module__", "__qualname__", "__slotnames__", "__static_attributes__",
        "_abc_impl",
    ))  # fmt: skip
    #: and by kind.
    slots: ClassVar[tuple[Any, ...]] = (pytypes.GetSetDescriptorType, pytypes.MemberDescriptorType)

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # the number of each value that was met, by its id
        self._alive: list[Any] = []  # these values: while they live, no other has their id
        self._attributes: set[tuple[int, str]] = set()  # the attributes of modules that are described already
        self._out: list[bytes] = []
        self._depth = 0

    # -- the rules

    def _module(self, module: pytypes.ModuleType, names: tuple[str, ...] | None) -> None:
        """Put the part of a module that counts. ``names`` are those in the code, None if it is not reached by code."""
        raise NotImplementedError

    def _unknown(self, value: Any) -> None:
        """Put a value of none of the ``kinds``, or raise Unkeyable."""
        raise NotImplementedError

    def _is_added(self, value: Any, owner: str) -> bool:
        """Whether a program may have put a value into a module of Python's or of the framework's.

        Python does not record who has set an attribute. ``owner`` says whose the module
        is, in the words of the rules, or "builtins".
        """
        raise NotImplementedError

    # -- the walk

    def _within(self, describe: Callable[..., None], *args: Any) -> bytes:
        """Return the bytes that a method puts, without putting them."""
        outer, self._out = self._out, []
        try:
            describe(*args)
            return b"".join(self._out)
        finally:
            self._out = outer

    def _put(self, tag: str, data: bytes = b"") -> None:
        self._out.append(b"%b %d:%b" % (tag.encode(), len(data), data))

    def _value(self, value: Any, names: tuple[str, ...] | None = None) -> None:
        """Put a value. If it is a module, ``names`` are the attributes that count."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise Unkeyable("too deep", type(value))
            plain = self.plain.get(type(value))
            if plain is not None:
                self._put(type(value).__name__, plain(value))
            elif isinstance(value, pytypes.ModuleType):
                self._module(value, names)
            else:
                self._by_kind(value)
        finally:
            self._depth -= 1

    def _by_kind(self, value: Any) -> None:
        # Not by isinstance: for each new class an abstract class asks all its subclasses.
        for base in type(value).__mro__:
            describe = self.kinds.get(base)
            if describe is not None:
                describe(self, value)
                return
        self._unknown(value)

    def _number(self, value: Any) -> None:
        """Give a value the next number."""
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)

    def _again(self, value: Any) -> bool:
        """Whether a value was met before; if so, put its number."""
        number = self._numbers.get(id(value))
        if number is None:
            self._number(value)
            return False
        self._put("again", str(number).encode())
        return True

    def _attribute(self, module: pytypes.ModuleType, name: str, names: tuple[str, ...]) -> None:
        """Put an attribute of a module, if it is not put already."""
        if name in module.__dict__ and (id(module), name) not in self._attributes:
            self._attributes.add((id(module), name))
            self._put("attribute", f"{module.__name__}.{name}".encode())
            self._value(module.__dict__[name], names)

    def _additions(self, module: pytypes.ModuleType, names: tuple[str, ...], owner: str) -> None:
        """Put, once, those attributes with these names that a program may have added to a module it does not own."""
        for name in names:
            if name in module.__dict__ and (id(module), name) not in self._attributes:
                self._attributes.add((id(module), name))
                self._addition(module, name, names, owner)

    def _addition(self, module: pytypes.ModuleType, name: str, names: tuple[str, ...], owner: str) -> None:
        value = module.__dict__[name]
        if self._is_added(value, owner):
            self._put("added", name.encode())
            self._value(value, names)

    def _around(
        self, function: pytypes.FunctionType, names: tuple[str, ...], attributes: tuple[str, ...]
    ) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
        """Yield label and value of each cell and global of a function, and the names that count if it is a module.

        ``names`` are those that its code may look up as globals, ``attributes`` the other
        names in it. Builtins are included if a program may have added them.
        """
        seen = (*names, *attributes)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            yield f"closure {name}", content_of(cell), seen
        for name in names:
            if name in function.__globals__:
                yield f"global {name}", function.__globals__[name], seen
        for name in names:
            if name in _BUILTINS and name not in function.__globals__ and self._is_added(_BUILTINS[name], "builtins"):
                yield f"builtin {name}", _BUILTINS[name], seen

    def _surroundings(
        self, function: pytypes.FunctionType, names: tuple[str, ...], attributes: tuple[str, ...]
    ) -> None:
        """Put a function's defaults, cells and globals."""
        self._value((function.__defaults__, function.__kwdefaults__))
        for label, value, seen in self._around(function, names, attributes):
            self._put(label)
            self._value(value, seen)

    # -- what all rules have in common

    def _method(self, value: Any) -> None:
        """Put a staticmethod, a classmethod or a bound method."""
        self._put(type(value).__name__)
        self._value(value.__func__)
        self._value(getattr(value, "__self__", None))
        if not isinstance(value, pytypes.MethodType):  # which has no attributes of its own
            self._set_on(value, value.__func__, staticmethod, classmethod)

    def _property(self, value: property) -> None:
        self._put("property")
        for function in (value.fget, value.fset, value.fdel):
            self._value(function)
        self._set_on(value, None, property)

    def _partial(self, value: Any) -> None:
        self._put("partial")
        for part in (value.func, value.args, value.keywords):
            self._value(part)
        self._set_on(value, value.func, functools.partial)

    def _set_on(self, value: Any, wrapped: Any, *kinds: type) -> None:
        """Put what somebody has set on one of these, and the class if it is a subclass of them."""
        own = {
            n: v
            for n, v in getattr(value, "__dict__", {}).items()
            if n not in _OF_WRAPPERS or (v is not wrapped and v is not getattr(wrapped, n, ...))
        }
        if own:
            self._put("own")
            self._value(own)
        if type(value) not in kinds:
            self._value(type(value))

    def _proxy(self, value: Any) -> None:
        """A view of a mapping, which may be of any class."""
        self._put("proxy")
        self._value(*gc.get_referents(value))

    def _slice(self, value: slice) -> None:
        self._put("slice")
        self._value((value.start, value.stop, value.step))

    def _says_nothing(self, cls: type, name: str, value: Any) -> bool:
        """Whether an attribute of a class says nothing beyond its bases, its other attributes and its file."""
        return name in self.of_classes or (isinstance(value, self.slots) and not _is_moved_slot(cls, name, value))

    def _members(self, cls: type) -> None:
        """Put the attributes of a class, and the members of an enumeration."""
        of_enum = issubclass(cls, enum.Enum)
        if of_enum:
            members: Any = cls
            for label, member in members.__members__.items():
                self._put("member", label.encode())
                self._value((member._value_, given(member)))
        for name, value in sorted(vars(cls).items()):
            if self._says_nothing(cls, name, value):
                continue
            if of_enum and _is_made(cls, name, value) and not _is_written(value):
                continue
            self._put("attribute", name.encode())
            self._value(value)


def below(cls: type) -> list[Any]:
    """Return a class and all that are made of it."""
    found: dict[Any, None] = {cls: None}
    pending: list[Any] = [cls]
    while pending:
        new = [c for c in type.__subclasses__(pending.pop()) if c not in found]
        found.update(dict.fromkeys(new))
        pending += new
    return list(found)


def told(cls: type) -> list[Any]:
    """Return the classes that an abstract class takes for its own because somebody said so."""
    return [c for ref in _abc._get_dump(cls)[0] if (c := ref())] if "_abc_impl" in vars(cls) else []


def hides_state(cls: type) -> bool:
    """Return whether the ``__dict__`` of a class's instances is not what they have as that: it says something else."""
    found = next((vars(c)["__dict__"] for c in cls.__mro__ if "__dict__" in vars(c)), None)
    return cls.__dictoffset__ != 0 and not isinstance(found, DependencyWalker.slots)


def text_of(thing: Any) -> str:
    """Return the docstring of a class or function; "" for a dataclass: Python makes it, with sets in any order."""
    return "" if "__dataclass_params__" in vars(thing) else repr(thing.__doc__)


def given(member: Any) -> dict[str, Any]:
    """Return the attributes that a member of an enumeration was given, and under "" its number or text.

    The number need not be the member's value.
    """
    found = {n: v for n, v in sorted(vars(member).items()) if n not in _OF_MEMBERS}
    base: Any = next((b for b in _MIXED if isinstance(member, b)), None)
    if base is not None:
        found[""] = base.__getitem__(member, slice(None)) if hasattr(base, "__getitem__") else base.__pos__(member)
    return found


def _is_moved_slot(cls: type, name: str, value: Any) -> bool:
    """Whether an attribute is what Python makes for a slot, or ``__dict__``, but of another name or class."""
    return isinstance(value, DependencyWalker.slots) and (value.__objclass__ is not cls or value.__name__ != name)


def _is_made(cls: Any, name: str, value: Any) -> bool:
    """Whether an attribute of an enumeration is a member, or something that Python makes of the members."""
    if isinstance(value, pytypes.FunctionType) or name in _OF_ENUMS:
        return True
    return name in cls.__members__ and isinstance(value, (cls, _ENUM_PROPERTY))


def _is_written(value: Any) -> bool:
    """Whether a value of an enumeration is made of a function of its author's, not of one that Python adds to each."""
    function = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return isinstance(function, pytypes.FunctionType) and not is_standard(function.__code__.co_filename)
