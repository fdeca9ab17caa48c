"""Dependencies of a function that Numba compiles, as bytes for a key.

Numba treats globals and closure cells as constants and follows calls into other
files; so does this walk. A name counts if the code mentions it, used or not: too much
in a key costs a compile, too little gives a wrong result. What cannot be described
by value counts by the content of the module file that defines it; if there is no file,
the walk raises ``Unkeyable``. Nothing is left out. Files and line numbers of what is
described by value do not count.
"""

from __future__ import annotations

import contextvars
import datetime as dt
import enum
import functools
import inspect
import logging
import re
import types as pytypes
import weakref
from typing import Any, Callable, ClassVar

import numpy as np
from numba.core import extending, ir, types
from numba.core.ccallback import CFunc
from numba.core.cpu_options import AbstractOptionValue
from numba.core.dispatcher import Dispatcher
from numba.core.typing.templates import Signature
from numba.core.typing.typeof import typeof_impl
from numba.core.withcontexts import WithContext
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc
from numba.stencils.stencil import StencilFunc

from jitcache._code import PLAIN, content_of
from jitcache._module_files import file_of

from ._code import Unkeyable, code_of, own_locals, pack, versioned, versioned_class, versioned_module
from ._data import DataWalker
from ._objects import are_typed
from ._options import given_options
from ._versioned import VersionedWalker, original

_ADDRESS = re.compile("0x[0-9a-f]{4}")

# Code that mentions this may compute a name, and look it up in any module.
_MAKES_NAMES = frozenset(("getattr",))
# The bytes of those types whose description does not depend on what the walk met before, for code that Numba compiles.
_types: weakref.WeakKeyDictionary[Any, bytes] = weakref.WeakKeyDictionary()

# Types that are refused, with the reason. A type is looked up by the bases of its class.
_REFUSED: dict[type, str] = {
    types.ClassInstanceType: "jitclass",
    types.ClassType: "jitclass",
    types.UndefinedFunctionType: "first-class function",
    types.ExternalFunctionPointer: "C function pointer",
    types.DeferredType: "deferred type",
}


def _first_class(_walker: DataWalker, value: Any) -> None:
    raise Unkeyable("first-class function", value)


class Walker(VersionedWalker):
    """The walk over everything that Numba treats as constant.

    ``dispatchers`` are the jitted functions met, in the order of the walk, which is the
    same in all processes with the same key; ``omitted`` are the types of omitted
    arguments, in that order too. ``namespaces`` are the globals of functions by module
    name, None if two namespaces have the name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.dispatchers: list[Any] = []
        self.omitted: list[Any] = []
        self.namespaces: dict[str | None, dict[str, Any] | None] = {}
        self.codes: set[pytypes.CodeType] = set()  # code that is described by value
        self._described_now: list[Any] = []  # the types that are being described, the outermost first
        self._typed = are_typed()
        self._asked = 0  # how often the bytes may have depended on what the walk met before

    def root(self, function: Any) -> dict[str, bytes]:
        """Return what a function depends on, by label: itself, its defaults, each global and each cell."""
        self._number(function)
        self._note_namespace(function)
        self._where = function.__globals__.get("__name__")
        self.codes.add(function.__code__)
        code, names, texts = code_of(function.__code__)
        out = {"function": pack(f"{function.__module__}.{function.__qualname__}".encode(), code)}
        if function.__defaults__ or function.__kwdefaults__:
            out["defaults"] = self.describe((function.__defaults__, function.__kwdefaults__))
        if "__wrapped__" in function.__dict__:
            out["parameters"] = self._within(self._wrapped, function)
        for label, value, seen in self._around(function, names, texts):
            out[label] = self._within(self._value, value, seen)
        return out

    def _note_namespace(self, function: Any) -> None:
        name, space = function.__globals__.get("__name__"), function.__globals__
        if self.namespaces.setdefault(name, space) is not space:
            self.namespaces[name] = None

    def _by_kind(self, value: Any) -> None:
        if self._typed:
            typer = typeof_impl.dispatch(type(value))
            if not versioned(typer.__code__.co_filename):
                self._put("typed by")
                self._note_others(typer)
                self._as_run(self._function, typer)
        super()._by_kind(value)

    def _again(self, value: Any) -> bool:
        self._asked += 1
        return super()._again(value)

    def registered(self, parts: tuple[Any, ...]) -> bytes:
        """Return the parts of a registration as bytes. Classes count by the members that others have written."""
        return self._within(self._as_run, self._registered, parts)

    def _registered(self, parts: tuple[Any, ...]) -> None:
        for part in parts:
            if isinstance(part, type) and not issubclass(part, types.Type):
                self._put("class", f"{part.__module__}.{part.__qualname__}".encode())
                for cls in part.__mro__[:-1]:
                    if cls is part or not versioned_class(cls):
                        self._members(cls)
            elif isinstance(part, tuple):
                self._registered(part)
            else:
                self._value(part)

    def names(self, space: dict[str, Any], names: tuple[str, ...]) -> bytes:
        """Return as bytes what names mean in the globals of code that Numba compiles."""
        self._where = space.get("__name__")
        return self._within(self._names, space, names)

    def _names(self, space: dict[str, Any], names: tuple[str, ...]) -> None:
        for name in names:
            if name in space:
                self._put(f"global {name}")
                self._value(space[name], names)

    def _ran_module(self, module: pytypes.ModuleType, names: tuple[str, ...]) -> None:
        """Put a module that Python code looks into, perhaps by computed names: its file, and its plain values."""
        self._module(module, names)
        if versioned_module(module) and not _MAKES_NAMES.isdisjoint(names):
            self._plain_in(module)

    def _plain_in(self, module: pytypes.ModuleType) -> None:
        """Put the file of a module, and the data in it."""
        if (id(module), "") in self._attributes:
            return
        self._attributes.add((id(module), ""))
        if file_of(module) is not None or not hasattr(module, "__path__"):  # a namespace package has no code
            self._file(module.__name__)
        # What Python's modules hold, as sys.path, counts where code names it.
        self._data_in(module, containers=not versioned_module(module))

    def _module(self, module: pytypes.ModuleType, names: tuple[str, ...] | None) -> None:
        self._put("module", module.__name__.encode())
        self._asked += 1
        if self._runs:  # whatever holds it, any of the code may look into it
            names = tuple(dict.fromkeys((*(names or ()), *self._looks_for)))
        if versioned_module(module):
            self._additions(module, names or (), "versioned")
            return
        self._alive.append(module)
        where, self._where = self._where, module.__name__
        self._class_of_module(module)
        for name in names or ():
            self._attribute(module, name, names or ())
        self._computed(module, names or ())
        if self._runs:
            self._plain_in(module)
        self._where = where

    def _class_of_module(self, module: pytypes.ModuleType) -> None:
        """Put the class of a module if that is not Python's own: it may have properties."""
        if type(module) is not pytypes.ModuleType:
            self._note_others(module)
            self._or_file(type(module), module.__name__)

    def _computed(self, module: pytypes.ModuleType, names: tuple[str, ...]) -> None:
        """Put the ``__getattr__`` of a module, and what it may find in other modules."""
        function = module.__dict__.get("__getattr__")
        if not isinstance(function, pytypes.FunctionType) or (id(module), "__getattr__ ") in self._attributes:
            return
        self._attributes.add((id(module), "__getattr__ "))
        self._put("computed")
        if not module.__dict__.keys() >= set(names):
            self._note_others(f"{module.__name__}.__getattr__")
        self._or_file(function, module.__name__)
        for name in code_of(function.__code__)[1]:
            other = function.__globals__.get(name)
            if isinstance(other, pytypes.ModuleType):
                self._module(other, names)

    def _function(self, function: pytypes.FunctionType) -> None:
        own = original(function)
        if own is not function:
            self._value(own)
            return
        if versioned(function.__code__.co_filename):
            self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
            if function.__closure__ and not self._again(function):
                where, self._where = self._where, function.__module__
                for cell in function.__closure__:
                    self._value(content_of(cell))
                self._where = where
            return
        if self._again(function):
            return
        self._note_namespace(function)
        self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
        self.codes.add(function.__code__)
        code, names, texts = code_of(function.__code__)
        self._put("code", code)
        where, self._where = self._where, function.__globals__.get("__name__")
        outer = self._looks_for
        if self._runs:
            self._looks_for = tuple(dict.fromkeys((*outer, *names, *texts)))
        self._surroundings(function, names, texts)
        self._looks_for = outer
        if self._runs:
            self._lines(function, names)
            self._said(function, {"__annotations__": getattr(function, "__annotations__", None)})
        if function.__dict__:
            self._dict({name: value for name, value in function.__dict__.items() if name != "__wrapped__"})
            self._wrapped(function)
        self._where = where

    def _wrapped(self, function: pytypes.FunctionType) -> None:
        """Put the parameters that Numba takes for a function's: if it has ``__wrapped__``, those of what it wraps."""
        if "__wrapped__" not in function.__dict__:
            return
        try:
            self._parameters(inspect.signature(function))
        except (TypeError, ValueError):  # Numba cannot compile such a function
            return

    def _parameters(self, signature: inspect.Signature) -> None:
        self._put("parameters")
        for p in signature.parameters.values():
            self._value((p.name, p.kind.name, ... if p.default is p.empty else (p.default,)))

    def _dispatcher(self, dispatcher: Any) -> None:
        if self._again(dispatcher):
            return
        self.dispatchers.append(dispatcher)
        self._put("jitted", type(dispatcher).__qualname__.encode())
        self._class_of_dispatcher(type(dispatcher))
        self._value(given_options(dispatcher))
        self._value(own_locals(dispatcher.locals))
        self._value(dispatcher._compiler.pipeline_class)
        if callable(dispatcher.targetoptions.get("inline")):
            self._note_others("the option inline")
        self._parameters(dispatcher._compiler.pysig)  # as they were when it was decorated
        if not dispatcher._can_compile and self._numbers.get(id(dispatcher.py_func)) != 0:
            # A call chooses among these signatures. Those of the function with which the walk began are made now.
            self._value([result.signature for result in dispatcher.overloads.values()])
        self._function(dispatcher.py_func)

    def _class_of_dispatcher(self, cls: type) -> None:
        """Put the class of a jitted function, if that is another one than Numba's: Numba calls its methods."""
        if not versioned_class(cls):
            self._note_others(cls)
            self._as_run(self._value, cls)

    def _ufunc(self, value: Any) -> None:
        """Put a function of vectorize or guvectorize."""
        if self._again(value):
            return
        builder = getattr(value, "gufunc_builder", None)
        kernel = value._dispatcher if builder is None else builder.nb_func
        self._put("ufunc", type(value).__qualname__.encode())
        self._value((kernel.targetoptions, own_locals(kernel.locals), getattr(builder, "signature", None)))
        states = value._reduce_states()
        self._value([states.get(name) for name in ("identity", "writable_args", "is_dynamic", "frozen")])
        if value._frozen:
            self._value([str(t) for t in value.types])
        self._function(kernel.py_func)

    def _with_context(self, value: Any) -> None:
        """Put an object that stands behind ``with``: Numba's own have no state; others' are run by Numba."""
        self._class(type(value))
        if not versioned_class(type(value)) and not self._again(value):
            self._note_others(type(value))
            self._as_run(self._held, value)

    def _intrinsic(self, value: Any) -> None:
        self._put("intrinsic", value._name.encode())
        self._function(value._defn)

    def _stencil(self, value: Any) -> None:
        if self._again(value):
            return
        self._put("stencil", repr(value.mode).encode())
        self._value(value.options)
        self._as_made(value.kernel_ir)
        self._function(value.kernel_ir.func_id.func)

    def _as_made(self, kernel: Any) -> None:
        """Put the code, the globals and the cells that a stencil had when it was made. Numba keeps them."""
        self.codes.add(kernel.func_id.code)
        code, names, texts = code_of(kernel.func_id.code)
        self._put("code", code)
        for read in (a.value for block in kernel.blocks.values() for a in block.find_insts(ir.Assign)):
            if isinstance(read, (ir.Global, ir.FreeVar)):
                self._put(f"read {read.name}")
                self._value(read.value, (*names, *texts))

    def _builtin(self, value: Any) -> None:
        owner = value.__self__
        self._in_c(owner.__module__ if isinstance(owner, type) else value.__module__)
        if owner is not None and not isinstance(owner, (pytypes.ModuleType, type)):
            self._value(owner)
        self._put("builtin", f"{value.__module__}.{value.__qualname__}".encode())

    def _signature(self, value: Any) -> None:
        self._put("signature")
        for part in (value.return_type, *value.args):
            self._value(part)

    def _type(self, t: Any) -> None:
        """Put a type of Numba's: its class, and its key, which Numba itself compares."""
        known = _types.get(t)
        if known is not None and not self._runs:
            self._out.append(known)
            return
        outer, asked, self._out = self._out, self._asked, []
        try:
            self._new_type(t)
            described = b"".join(self._out)
        finally:
            self._out = outer
        self._out.append(described)
        if asked == self._asked and not self._runs:
            _types[t] = described

    def _new_type(self, t: Any) -> None:
        bases = type(t).__mro__
        if types.Dispatcher in bases:
            self._put("type of")
            self._value(t.dispatcher)
            return
        for kind, reason in _REFUSED.items():
            if kind in bases:
                raise Unkeyable(reason, t)
        self._class(type(t))
        if types.FunctionType in bases:  # called by its address; which function that is, is known at run time
            self._signature(t.signature)
            return
        if types.FunctionPrototype in bases:
            self._value((t.rtype, t.atypes))
            return
        if types.Omitted in bases:
            self._asked += 1
            self.omitted.append(t)
            self._value(t.value)
            return
        key = t.key
        if isinstance(key, str) and _ADDRESS.search(key):
            raise Unkeyable("type", t)
        self._value(key)
        # Numba compares only the key; code of others may read the other attributes.
        if not versioned_class(type(t)) and t not in self._described_now:
            self._described_now.append(t)
            self._value({n: v for n, v in sorted(vars(t).items()) if n not in ("name", "_code")})
            self._described_now.pop()
        if types.Array in bases:
            self._put("aligned", repr(t.aligned).encode())

    plain: ClassVar[dict[type, Callable[[Any], bytes]]] = {
        **PLAIN,
        slice: lambda v: repr(v).encode(),
        dt.timedelta: lambda v: repr(v).encode(),
    }

    kinds: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        pytypes.FunctionType: _function,
        pytypes.BuiltinFunctionType: _builtin,
        pytypes.MethodType: DataWalker._method,
        pytypes.MappingProxyType: DataWalker._proxy,
        staticmethod: DataWalker._method,
        classmethod: DataWalker._method,
        property: DataWalker._property,
        functools.partial: DataWalker._partial,
        type(functools.lru_cache(len)): DataWalker._memoised,
        contextvars.ContextVar: DataWalker._variable,
        weakref.ReferenceType: DataWalker._reference,
        logging.Logger: DataWalker._logger,
        StencilFunc: _stencil,
        Dispatcher: _dispatcher,
        DUFunc: _ufunc,
        GUFunc: _ufunc,
        CFunc: _first_class,
        extending._Intrinsic: _intrinsic,
        WithContext: _with_context,
        types.Type: _type,
        Signature: _signature,
        AbstractOptionValue: DataWalker._flag,
        type: DataWalker._class,
        enum.Enum: DataWalker._enum,
        np.ndarray: DataWalker._array,
        np.generic: DataWalker._scalar,
        np.dtype: DataWalker._dtype,
        np.ufunc: DataWalker._numpy_ufunc,
        tuple: DataWalker._items,
        list: DataWalker._items,
        set: DataWalker._set,
        frozenset: DataWalker._set,
        dict: DataWalker._dict,
    }
