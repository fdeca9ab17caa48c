"""Reach: what a function that Numba compiles depends on, as bytes for a key.

Numba treats globals and closure cells as constants and follows calls into other
files; so does this. A name counts if the code mentions it, used or not: too much
in a key is a compile more, too little is a wrong result. What cannot be described
raises ``Unkeyable``. Files and lines do not count, so neither do time stamps.
"""

from __future__ import annotations

import ctypes
import datetime
import enum
import functools
import os
import re
import struct
import sys
import sysconfig
import types as pytypes
import weakref
from typing import Any, Callable

import llvmlite
import numba
import numpy as np
from numba.cloudpickle import cloudpickle
from numba.core import extending, types
from numba.core.ccallback import CFunc
from numba.core.dispatcher import Dispatcher
from numba.core.cpu_options import AbstractOptionValue
from numba.core.typing.templates import Signature
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

# More than Numba makes a constant of; code that uses it has dynamic globals.
_MOST_BYTES = 10**6
_MOST_ITEMS = 10_000
_DEEPEST = 100

_ADDRESS = re.compile("0x[0-9a-f]{4}")


class Unkeyable(Exception):
    """What a function depends on cannot be described: ``reason``, and what it is in the text."""

    def __init__(self, reason: str, what: object = "") -> None:
        super().__init__(f"{reason}: {what}"[:300] if what else reason)
        self.reason = reason


def _roots() -> tuple[tuple[str, ...], tuple[str, ...]]:
    paths = sysconfig.get_paths()
    inside = [paths["stdlib"], paths["platstdlib"], *(os.path.dirname(m.__file__) for m in (numba, np, llvmlite))]
    outside = [paths["purelib"], paths["platlib"], os.path.join(os.path.dirname(numba.__file__), "tests")]
    outside += [os.path.join(paths[name], "dist-packages") for name in ("stdlib", "platstdlib")]
    return tuple(p + os.sep for p in inside), tuple(p + os.sep for p in outside)


_INSIDE, _OUTSIDE = _roots()
_PACKAGES = _INSIDE[2:]


@functools.lru_cache(maxsize=None)
def versioned(path: str) -> bool:
    """Return whether a file belongs to Python, Numba, NumPy or llvmlite, whose versions are in every key."""
    if path.startswith("<frozen "):
        return True
    if not path.startswith(_INSIDE) or path.startswith(_OUTSIDE[2:3]):
        return False
    return path.startswith(_PACKAGES) or not path.startswith(_OUTSIDE)


def _versioned_module(module: pytypes.ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    return module.__name__ in sys.builtin_module_names if path is None else versioned(path)


def _versioned_class(cls: type) -> bool:
    module = sys.modules.get(cls.__module__)
    return cls.__module__ != "__main__" and module is not None and _versioned_module(module)


_codes: weakref.WeakKeyDictionary[pytypes.CodeType, tuple[bytes, tuple[str, ...], tuple[str, ...]]]
_codes = weakref.WeakKeyDictionary()


# Types as bytes, of those that are the same for everybody.
_types: weakref.WeakKeyDictionary[Any, bytes] = weakref.WeakKeyDictionary()


def _pack(*parts: bytes) -> bytes:
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
    parts = [code.co_code, getattr(code, "co_exceptiontable", b""), code.co_name.encode(), repr((counts, tables)).encode()]
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
    return _pack(*parts), tuple(names), tuple(texts)


def lines_of(function: pytypes.FunctionType) -> bytes:
    """Return where a function's lines are, for code with debug information in it."""
    code = function.__code__
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    return _pack(code.co_filename.encode(), str(code.co_firstlineno).encode(), table)


class Reach:
    """A walk over all that a function reaches. One serves one key.

    ``dispatchers`` are the jitted functions met, in the order of the walk, which
    is the same for everybody with the same key; ``namespaces`` the globals of
    functions by module name, None where there are two of one name.
    """

    def __init__(self) -> None:
        self.dispatchers: list[Any] = []
        self.namespaces: dict[str | None, dict[str, Any] | None] = {}
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # what was seen stays alive, so that an id is one object
        self._out: list[bytes] = []
        self._depth = 0

    def describe(self, value: Any, *names: str) -> bytes:
        """Return a value as bytes. ``names`` are those that count if it is a module."""
        outer, self._out = self._out, []
        try:
            self._value(value, names)
            return b"".join(self._out)
        finally:
            self._out = outer

    def root(self, function: Any, *, lines: bool = False) -> dict[str, bytes]:
        """Return what a function depends on by label: itself, its defaults, each global and each cell."""
        self._seen[id(function)] = 0
        self._keep(function)
        code, names, texts = code_of(function.__code__)
        out = {"function": _pack(f"{function.__module__}.{function.__qualname__}".encode(), code)}
        if lines:
            out["lines"] = lines_of(function)
        if function.__defaults__ or function.__kwdefaults__:
            out["defaults"] = self.describe((function.__defaults__, function.__kwdefaults__))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            out[f"closure {name}"] = self.describe(_content(cell), *names, *texts)
        for name in names:
            if name in function.__globals__:
                out[f"global {name}"] = self.describe(function.__globals__[name], *names, *texts)
        return out

    def _keep(self, function: Any) -> None:
        self._kept.append(function)
        name, space = function.__globals__.get("__name__"), function.__globals__
        if self.namespaces.setdefault(name, space) is not space:
            self.namespaces[name] = None

    def _put(self, tag: str, data: bytes = b"") -> None:
        self._out.append(b"%b %d:%b" % (tag.encode(), len(data), data))

    def _value(self, value: Any, names: tuple[str, ...] = ()) -> None:
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise Unkeyable("too deep", type(value))
            plain = _PLAIN.get(type(value))
            if plain is not None:
                self._put(type(value).__name__, plain(value))
            elif isinstance(value, pytypes.ModuleType):
                self._module(value, names)
            else:
                self._other(value)
        finally:
            self._depth -= 1

    def _other(self, value: Any) -> None:
        # Not isinstance: many of the classes are abstract, and ask all their subclasses about each new class.
        for base in type(value).__mro__:
            describe = _KINDS.get(base)
            if describe is not None:
                describe(self, value)
                return
        self._unknown(value)

    def _again(self, value: Any) -> bool:
        """Whether a value was met before; then its number is put instead of it."""
        number = self._seen.get(id(value))
        if number is not None:
            self._put("again", str(number).encode())
            return True
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return False

    def _module(self, module: pytypes.ModuleType, names: tuple[str, ...]) -> None:
        self._put("module", module.__name__.encode())
        if _versioned_module(module) or self._again(module):
            return
        for name in names:
            if name in module.__dict__:
                self._put("attribute", name.encode())
                self._value(module.__dict__[name], names)

    def _function(self, function: pytypes.FunctionType) -> None:
        if versioned(function.__code__.co_filename):
            self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
            for cell in function.__closure__ or ():
                self._value(_content(cell))
            return
        if self._again(function):
            return
        self._keep(function)
        self._put("function", f"{function.__module__}.{function.__qualname__}".encode())
        code, names, texts = code_of(function.__code__)
        self._put("code", code)
        self._value((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            self._value(_content(cell), (*names, *texts))
        for name in names:
            if name in function.__globals__:
                self._put("global", name.encode())
                self._value(function.__globals__[name], (*names, *texts))

    def _dispatcher(self, dispatcher: Any) -> None:
        if self._again(dispatcher):
            return
        self.dispatchers.append(dispatcher)
        self._put("jitted", type(dispatcher).__qualname__.encode())
        self._value(dispatcher.targetoptions)
        self._value(dispatcher.locals)
        self._value(dispatcher._compiler.pipeline_class)
        if not dispatcher._can_compile:  # calls are resolved among these
            self._value(list(dispatcher.overloads))
        self._function(dispatcher.py_func)

    def _ufunc(self, value: Any) -> None:
        """A function of vectorize or guvectorize."""
        if self._again(value):
            return
        builder = getattr(value, "gufunc_builder", None)
        kernel = value._dispatcher if builder is None else builder.nb_func
        self._put("ufunc", type(value).__qualname__.encode())
        self._value((kernel.targetoptions, kernel.locals, getattr(builder, "signature", None)))
        if value._frozen:
            self._value([str(t) for t in value.types])
        self._function(kernel.py_func)

    def _intrinsic(self, value: Any) -> None:
        self._put("intrinsic", value._name.encode())
        self._function(value._defn)

    def _class(self, cls: type) -> None:
        self._put("class", f"{cls.__module__}.{cls.__qualname__}".encode())
        if _versioned_class(cls) or self._again(cls):
            return
        if isinstance(getattr(cls, "class_type", None), types.ClassType):
            raise Unkeyable("jitclass", cls)
        pin(cls)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self._value(cls._fields)
        elif issubclass(cls, enum.Enum):
            for name, member in cls.__members__.items():
                self._put("member", name.encode())
                self._value(member.value)
        for base in cls.__mro__[:-1]:
            for name, attribute in sorted(vars(base).items()) if not _versioned_class(base) else ():
                function = getattr(attribute, "__func__", attribute)
                if isinstance(function, pytypes.FunctionType):
                    self._put("method", name.encode())
                    self._function(function)

    def _enum(self, value: enum.Enum) -> None:
        self._class(type(value))
        self._put("member", value.name.encode())

    def _items(self, value: Any) -> None:
        if len(value) > _MOST_ITEMS:
            raise Unkeyable("large global", f"{type(value).__qualname__} of {len(value)}")
        if type(value) not in (tuple, list):
            self._class(type(value))
        self._put(type(value).__name__, str(len(value)).encode())
        for item in value:
            self._value(item)

    def _set(self, value: Any) -> None:
        self._put("set", b"".join(sorted(self.describe(item) for item in value)))

    def _dict(self, value: dict[Any, Any]) -> None:
        self._items([*value.keys(), *value.values()])

    def _array(self, value: Any) -> None:
        self._put("array", type(value).__qualname__.encode())
        self._dtype(value.dtype)
        if value.nbytes > _MOST_BYTES:
            raise Unkeyable("dynamic globals", f"array of {value.nbytes} bytes")
        flags = value.flags
        layout = (value.shape, value.strides, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned)
        self._put("layout", repr(layout).encode())
        self._put("data", value.tobytes())

    def _scalar(self, value: Any) -> None:
        self._dtype(value.dtype)
        self._put("data", value.tobytes())

    def _dtype(self, dtype: Any) -> None:
        if dtype.hasobject:
            raise Unkeyable("array of objects", dtype)
        fields = [(name, str(dtype.fields[name])) for name in dtype.names or ()]
        self._put("dtype", repr((dtype.str, fields, dtype.itemsize, dtype.isalignedstruct, dtype.shape)).encode())

    def _builtin(self, value: Any) -> None:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, (pytypes.ModuleType, type)):
            self._value(owner)
        self._put("builtin", f"{value.__module__}.{getattr(value, '__qualname__', value.__name__)}".encode())

    def _numpy_ufunc(self, value: Any) -> None:
        if getattr(np, value.__name__, None) is not value:
            raise Unkeyable("ufunc", value)
        self._put("numpy", value.__name__.encode())

    def _signature(self, value: Any) -> None:
        self._put("signature")
        for part in (value.return_type, *value.args):
            self._value(part)

    def _type(self, t: Any) -> None:
        """A type of Numba's: its class, and what Numba itself compares."""
        known = _types.get(t)
        if known is not None:
            self._out.append(known)
            return
        outer, seen, self._out = self._out, len(self._kept), []
        try:
            self._new_type(t)
            described = b"".join(self._out)
        finally:
            self._out = outer
        self._out.append(described)
        if seen == len(self._kept):  # nothing in it but other types
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
        if types.Omitted in bases:
            self._value(t.value)
            return
        key = t.key
        if isinstance(key, str) and _ADDRESS.search(key):
            raise Unkeyable("type", t)
        self._value(key)
        if types.Array in bases:
            self._put("aligned", repr(t.aligned).encode())

    def _flag(self, value: Any) -> None:
        """A compile flag, which is a small object: fast-math, parallel, inline."""
        self._put("option", type(value).__qualname__.encode())
        state = {n: getattr(value, n) for n in getattr(type(value), "__slots__", ())} or vars(value)
        for name in sorted(state):
            self._put(name)
            self._value(state[name])

    def _unknown(self, value: Any) -> None:
        """What Numba cannot type it cannot make a constant of: only object mode sees it, when it runs."""
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if kind.__module__ in ("_cffi_backend", "_ctypes") or isinstance(value, ctypes._CFuncPtr):
            raise Unkeyable("C function pointer", name)
        try:
            numba.typeof(value)
        except ValueError:
            self._put("object", name.encode())
        except Exception as e:
            raise Unkeyable("global", f"{name}: {e}") from e
        else:
            raise Unkeyable("global", name)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ...


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


def _first_class(_reach: Reach, value: Any) -> None:
    raise Unkeyable("first-class function", value)


# Exact types, the most frequent first; a float by its bits, so that -0.0 and NaN count.
_PLAIN: dict[type, Callable[[Any], bytes]] = {
    int: lambda v: str(v).encode(),
    float: lambda v: struct.pack("<d", v),
    str: lambda v: v.encode("utf-8", "surrogatepass"),
    bool: lambda v: str(v).encode(),
    type(None): lambda _: b"",
    bytes: bytes,
    complex: lambda v: struct.pack("<dd", v.real, v.imag),
    type(...): lambda _: b"",
    slice: lambda v: repr(v).encode(),
    range: lambda v: repr(v).encode(),
    datetime.timedelta: lambda v: repr(v).encode(),
}

# These are looked up by the bases of a value's class.
_REFUSED: dict[type, str] = {
    types.ClassInstanceType: "jitclass",
    types.ClassType: "jitclass",
    types.FunctionType: "first-class function",
    types.UndefinedFunctionType: "first-class function",
    types.FunctionPrototype: "first-class function",
    types.ExternalFunctionPointer: "C function pointer",
    types.DeferredType: "deferred type",
}

_KINDS: dict[type, Callable[[Reach, Any], None]] = {
    pytypes.FunctionType: Reach._function,
    pytypes.BuiltinFunctionType: Reach._builtin,
    Dispatcher: Reach._dispatcher,
    DUFunc: Reach._ufunc,
    GUFunc: Reach._ufunc,
    CFunc: _first_class,
    extending._Intrinsic: Reach._intrinsic,
    types.Type: Reach._type,
    Signature: Reach._signature,
    AbstractOptionValue: Reach._flag,
    type: Reach._class,
    enum.Enum: Reach._enum,
    np.ndarray: Reach._array,
    np.generic: Reach._scalar,
    np.dtype: Reach._dtype,
    np.ufunc: Reach._numpy_ufunc,
    tuple: Reach._items,
    list: Reach._items,
    set: Reach._set,
    frozenset: Reach._set,
    dict: Reach._dict,
}
