"""Objects: classes and instances that a function reaches, as bytes for a key.

Classes of Python, Numba and NumPy count by name, because their versions are in every
key; other classes count by their members. An instance counts by its class and state,
and by its pickled form if its class is not written in Python. If it cannot be pickled,
it counts by the files of the modules that hold it.
"""

from __future__ import annotations

import _thread
import copyreg
import ctypes
import datetime as dt
import gc
import io
import re
import sys
import threading
import types as pytypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
from numba.core import types
from numba.core.typing.typeof import typeof_impl

from jitcache._code import PLAIN
from jitcache._dependency_walk import DependencyWalker, below, hides_state, text_of, told
from jitcache._module_files import content_of_module, has_file

from ._code import HEAP, Unkeyable, lines_of, pin, versioned, versioned_class, versioned_module
from ._others import is_run, may_run

if TYPE_CHECKING:
    import contextvars
    import logging
    import weakref
    from collections.abc import Callable, Mapping

# Code that mentions one of these may look at the lines of a function.
_READS_CODE = frozenset((
    "__code__", "findsource", "getcomments", "getfile", "getsource", "getsourcefile", "getsourcelines",
))  # fmt: skip
_ADDRESS = re.compile("0x[0-9a-f]+")


def _names_in(annotation: object) -> tuple[str, ...]:
    """Return the names in an annotation, if it is a string."""
    try:
        return compile(annotation, "", "eval").co_names if isinstance(annotation, str) else ()
    except (SyntaxError, ValueError):
        return ()


def _content_of_slot(slot: Any, value: Any) -> Any:
    """Return the value in a slot of an instance, ``...`` if the slot is empty."""
    try:
        return slot.__get__(value)
    except AttributeError:
        return ...


class _Item(NamedTuple):
    x: int


# The kinds of members of a class that is written in C, and the members that every class has.
_IN_C = (
    pytypes.MethodDescriptorType, pytypes.ClassMethodDescriptorType, pytypes.WrapperDescriptorType,
    pytypes.GetSetDescriptorType,
)  # fmt: skip
_OF_ALL = frozenset(("__dict__", "__weakref__"))
_LOCK = _thread.LockType
_WITHOUT_STATE = (_LOCK, _thread.RLock, threading.local)


def _is_opened(value: Any) -> bool:
    """Whether a value of one of Python's classes in C may hold what is in no file of a program: a file, a generator."""
    kind = type(value)
    if isinstance(value, _WITHOUT_STATE) or kind.__name__ == "PyCapsule" or not versioned_class(kind):
        return False
    if any(isinstance(held, pytypes.FunctionType) for cls in kind.__mro__ for held in vars(cls).values()):
        return False
    return not (isinstance(value, io.IOBase) and not value.closed and not value.readable())


def _is_plain_module(module: Any) -> bool:
    """Whether a module is imported already: one of ``importlib.util.LazyLoader`` is imported when it is asked."""
    looks: Any = type(module).__getattribute__
    return isinstance(module, pytypes.ModuleType) and looks is pytypes.ModuleType.__getattribute__


# The attributes in which Numba's templates keep results.
_MEMORIES = frozenset(("_impl_cache", "_overload_cache", "_compiled_overloads", "_inline_overloads"))


def _is_typed(value: Any) -> bool:
    """Whether Numba has a type for a value, although it has no function for the value's class."""
    try:
        numba.typeof(value)
    except Exception:  # noqa: BLE001 - from the value's own code
        return False
    return True


# The functions that tell Numba the types of values, and whether some of them are from other packages.
_typers: tuple[tuple[Any, ...], bool] = ((), False)


def are_typed() -> bool:
    """Return whether other packages have functions that tell Numba the types of values.

    If not, the walk need not look for the function of each class, which takes long.
    """
    global _typers
    now = tuple(typeof_impl.registry.values())
    if now != _typers[0]:
        _typers = now, any(not versioned(getattr(getattr(f, "__code__", None), "co_filename", "")) for f in now)
    return _typers[1]


#: The kinds of values that the walk describes without a look at their class, and of constants in code.
_CONSTANTS = (*PLAIN, slice, dt.timedelta, tuple, frozenset)


def plain_typers() -> list[Any]:
    """Return the functions of other packages that tell Numba the types of plain values: each function has some."""
    if not are_typed():
        return []
    found = dict.fromkeys(map(typeof_impl.dispatch, _CONSTANTS))
    return [typer for typer in found if not versioned(typer.__code__.co_filename)]


class ObjectWalker(DependencyWalker):
    """The part of the walk that describes classes and instances.

    ``classes`` has the classes met that cannot be imported, by their names in pickles.
    """

    of_classes = DependencyWalker.of_classes | _MEMORIES
    slots = (
        *DependencyWalker.slots,
        pytypes.WrapperDescriptorType,
        pytypes.MethodDescriptorType,
        pytypes.ClassMethodDescriptorType,
        type(vars(_Item)["x"]),
    )

    def __init__(self) -> None:
        super().__init__()
        self.classes: dict[str, type] = {}
        self.code_of_others = ""  # what the walk met whose code Numba may run when it meets that, too
        self._runs = False  # whether Python runs the code that uses the values, rather than Numba compiling it
        self._looks_for: tuple[str, ...] = ()  # names in the code that Python runs, from the outside in
        self._where: Any = None  # the name of the module that the described value belongs to
        # The same as _numbers and _attributes, for code that Python runs within code that Numba compiles.
        self._run_numbers: dict[int, int] = {}
        self._run_attributes: set[tuple[int, str]] = set()
        self._by_id: dict[int, set[str]] = {}  # which modules hold a value, by its id; made once per walk

    def _note_others(self, what: object) -> None:
        """Note something of others whose code Numba may run while it compiles what uses it."""
        if not self._runs:
            self.code_of_others = self.code_of_others or str(what)

    def _function(self, function: pytypes.FunctionType) -> None:
        """Put a function."""
        raise NotImplementedError

    def _lines(self, function: pytypes.FunctionType, names: tuple[str, ...]) -> None:
        """Put the place and the source of a function, if code may look at these."""
        if not _READS_CODE.isdisjoint((*self._looks_for, *names)):
            self._put("lines", lines_of(function))
            if has_file(function.__code__.co_filename):
                self._file(function.__module__)

    def _file(self, module: Any, what: object = "") -> None:
        """Put the content of a module's file."""
        if not isinstance(module, str):
            raise Unkeyable("no file", what)
        own = module in sys.modules and versioned_module(sys.modules[module])
        self._put("file", module.encode() if own else content_of_module(module))

    def _or_file(self, value: Any, module: Any) -> None:
        """Put a value, or the content of a module's file if it cannot be described."""
        try:
            self._out.append(self._within(self._value, value))
        except Unkeyable as e:
            if e.reason == "opened":
                raise
            self._file(module, value)

    def _class(self, cls: type) -> None:
        self._put("class", f"{cls.__module__}.{cls.__qualname__} {cls.__name__}".encode())
        self._told(cls)
        if versioned_class(cls) or self._again(cls):
            return
        if isinstance(getattr(cls, "class_type", None), types.ClassType):
            raise Unkeyable("jitclass", cls)
        if not self._runs and may_run(cls):
            self._note_others(cls)
        name = pin(cls)
        if name and self.classes.setdefault(name.partition("#")[0], cls) is not cls:
            raise Unkeyable("two classes of one name", cls)
        where, self._where = self._where, cls.__module__
        for base in (*cls.__mro__[1:-1], type(cls)):
            self._value(base)
        if is_run(cls):
            self._as_run(self._members_of, cls)
        else:
            self._members_of(cls)
        self._where = where

    def _members_of(self, cls: type) -> None:
        if any(isinstance(v, _IN_C) for n, v in vars(cls).items() if n not in _OF_ALL):
            self._in_c(cls.__module__)
        self._members(cls)
        if self._runs:
            self._said(cls, vars(cls))

    def _as_run(self, describe: Callable[..., None], *args: Any) -> None:
        """Put what Python runs. What the walk has met in code that Numba compiles is put again."""
        before = self._runs, self._numbers, self._attributes
        if not self._runs:
            self._runs, self._numbers, self._attributes = True, self._run_numbers, self._run_attributes
        try:
            describe(*args)
        finally:
            self._runs, self._numbers, self._attributes = before

    def _in_c(self, module: Any) -> None:
        """Put the file of a module written in C, if it is not Python's, Numba's or NumPy's."""
        found = sys.modules.get(module) if self._runs and isinstance(module, str) else None
        if found is not None and not versioned_module(found):
            self._file(module)

    def _told(self, cls: type) -> None:
        """Put the classes that are registered with an abstract class, or with one derived from it."""
        if self._runs and "_abc_impl" in vars(cls):
            found = {f"{c.__module__}.{c.__qualname__}" for b in below(cls) for c in told(b) if not versioned_class(c)}
            self._put("told", repr(sorted(found)).encode())

    def _said(self, thing: Any, attributes: Mapping[str, Any]) -> None:
        """Put the docstring and the annotations of a class or function. Only Python code asks for these."""
        self._put("text", text_of(thing).encode())
        space = getattr(sys.modules.get(thing.__module__), "__dict__", {})
        annotations = attributes.get("__annotations__")
        for name, annotation in annotations.items() if isinstance(annotations, dict) else ():
            self._annotation(name, annotation, thing.__module__)
            for part in _names_in(annotation):
                if part in space:
                    self._annotation(part, space[part], thing.__module__)

    def _annotation(self, name: str, annotation: Any, module: Any) -> None:
        self._put("annotation", f"{name} {_ADDRESS.sub('', repr(annotation))}".encode())
        if isinstance(annotation, type) and not versioned_class(annotation):
            self._or_file(annotation, module)

    def _memoised(self, value: Any) -> None:
        """Put a memoised function, and its file."""
        self._put("memoised")
        self._value(value.__wrapped__)
        self._file(value.__module__, value)

    def _reference(self, value: weakref.ReferenceType[Any]) -> None:
        """Put what a weak reference refers to."""
        self._put("reference")
        self._value(value())

    def _logger(self, value: logging.Logger) -> None:
        """Put a logger by its name. If Python looks at it, put the plain values in it and in those above it."""
        self._put("logger", value.name.encode())
        if not self._runs:
            return
        self._value(value.manager.disable)
        if not versioned_class(type(value)):
            self._class(type(value))
        above: logging.Logger | None = value
        while above is not None:
            self._value({name: held for name, held in sorted(vars(above).items()) if type(held) in PLAIN})
            above = above.parent

    def _variable(self, value: contextvars.ContextVar[Any]) -> None:
        """Put a context variable with its value in the present context."""
        self._put("variable", value.name.encode())
        self._value(value.get(...))

    def _unknown(self, value: Any) -> None:
        """Put an instance: its class and state, and its pickled form if Python cannot see all of the state."""
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        pointer: Any = ctypes._CFuncPtr  # type: ignore[attr-defined]
        if kind.__module__ in ("_cffi_backend", "_ctypes") or pointer in kind.__mro__:
            raise Unkeyable("C function pointer", name)
        if self._again(value):
            return
        self._put("object", name.encode())
        self._note_others(name)
        typer = typeof_impl.dispatch(kind)
        if versioned(typer.__code__.co_filename) and (typer is not typeof_impl.dispatch(object) or _is_typed(value)):
            raise Unkeyable("global", name)
        self._class(kind)
        self._held(value)
        if not all(b is object or (b.__flags__ & HEAP and not versioned_class(b)) for b in kind.__mro__):
            self._reduced(value, name)

    def _held(self, value: Any) -> None:
        """Put an instance's slots and ``__dict__``, except those from classes of Python, Numba and NumPy."""
        for base in type(value).__mro__:
            if versioned_class(base):
                continue
            for name, slot in sorted(vars(base).items()):
                if isinstance(slot, pytypes.MemberDescriptorType):
                    self._value((name, _content_of_slot(slot, value)))
        if not versioned_class(type(value)):
            if hides_state(type(value)):
                raise Unkeyable("global", type(value))
            self._value(getattr(value, "__dict__", None))

    def _holders(self, value: Any) -> set[str]:
        """Return the modules that have a value under any name, except Python's, Numba's and NumPy's."""
        if not self._by_id:
            for module in list(sys.modules.values()):
                if _is_plain_module(module) and not versioned_module(module):
                    for held in list(vars(module).values()):
                        self._by_id.setdefault(id(held), set()).add(str(module.__name__))
        return self._by_id.get(id(value), set())

    def _reduced(self, value: Any, name: str) -> None:
        """Put the pickled form of an instance, or if it has none, the files of the modules that may define it."""
        where = sys.modules.get(self._where)
        if where is not None and versioned_module(where):
            return  # part of an object of Numba's, whose pickled form would include results that Numba remembers
        try:
            own: Any = copyreg.dispatch_table.get(type(value))
            reduced = value.__reduce_ex__(4) if own is None else own(value)
        except Exception:  # noqa: BLE001 - from the value's own code
            if self._runs and _is_opened(value):
                raise Unkeyable("opened", name) from None
            if type(value) is _LOCK:
                self._put("locked", str(value.locked()).encode())
            for module in sorted(self._holders(value)) or [self._where]:
                self._file(module, name)
            self._value(getattr(value, "__dict__", None))  # of a threading.local, that of this thread
        else:
            parts = (reduced,) if isinstance(reduced, str) else reduced
            if isinstance(reduced, str):
                self._in_c(getattr(value, "__module__", None))
                self._behind_name(value)
            for part in parts:
                self._value(list(part) if hasattr(type(part), "__next__") else part)
            self._left_out(value)

    def _behind_name(self, value: Any) -> None:
        """Put what an object holds whose pickled form is only its name: the bounds of a TypeVar, say."""
        self._value(getattr(value, "__dict__", None))  # first, because Python makes the dictionary now
        self._value([held for held in gc.get_referents(value) if held is not type(value)])

    def _left_out(self, value: Any) -> None:
        """Put what pickles of Python's own classes leave out: the cause of an exception."""
        if isinstance(value, BaseException):
            self._value((value.__cause__, value.__context__))
