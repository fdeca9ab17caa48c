"""Values that a function reaches: data and instances, as bytes for a key."""

from __future__ import annotations

import _thread
import array
import collections
import enum
import functools
import operator
import re
import struct
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NamedTuple

from jitcache._code import PLAIN, Unkeyable
from jitcache._dependency_walk import hides_state
from jitcache._dtype import parts_of

from .classes import ClassWalker
from .order import fixed_order, is_nan
from .outside import is_leading, leads_elsewhere

if TYPE_CHECKING:
    from collections.abc import Mapping

_MANAGED_DICT = 1 << 4  # Py_TPFLAGS_MANAGED_DICT: the __dict__ is before the object, since Python 3.11
_WORD = 8
#: The most values in one key. A structure with more is data, and no setting.
_MOST = 100_000


def shows_all(cls: type, base: type) -> bool:
    """Return whether instances hold nothing beyond ``base``, their slots and their __dict__.

    Their size tells: a class in C that keeps more needs room for it.
    """
    slots = sum(
        isinstance(v, types.MemberDescriptorType)
        for c in cls.__mro__
        if not issubclass(base, c)
        for v in vars(c).values()
    )
    managed = sys.version_info >= (3, 11) and cls.__flags__ & _MANAGED_DICT
    own_dict = cls.__dictoffset__ != 0 and base.__dictoffset__ == 0 and not managed
    own_weakref = cls.__weakrefoffset__ > 0 and base.__weakrefoffset__ == 0
    return cls.__basicsize__ == base.__basicsize__ + _WORD * (slots + own_dict + own_weakref)


def _finds(mapping: dict[Any, Any], key: Any) -> bool:
    """Return whether a dict finds its own key. A key that was changed after it was put in has another hash."""
    return dict.__contains__(mapping, key)


def holders(lock: Any) -> tuple[bool, bool]:
    """Return whether a lock is held, and whether this thread holds it, as far as the lock tells."""
    return repr(lock).startswith("<locked"), hasattr(lock, "_is_owned") and lock._is_owned()


def is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy, a scalar or a type of elements."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic, numpy.dtype))


class _Named(NamedTuple):
    x: int


def _of_text(value: str) -> bytes:
    """A text. It is refused if getattr could leave the described values by it."""
    if is_leading(value):
        raise Unkeyable("can reach anything", value)
    return PLAIN[str](value)


class ValueWalker(ClassWalker):
    """The part of the walk that describes values. ``Reach`` describes callables."""

    plain: ClassVar[Mapping[type, Callable[[Any], bytes]]] = {**PLAIN, str: _of_text}
    kinds: ClassVar[dict[type, Callable[[Any, Any], None]]] = {}

    def __init__(self) -> None:
        super().__init__()
        self._left = _MOST
        self._locks: list[Any] = []
        self._owners: dict[int, tuple[int, int]] = {}  # of memory: its number, and where the first value in it lies
        self._bases: list[tuple[Any, ...]] = []  # of arrays: whose memory they are in

    # -- the rules

    def _value(self, value: Any, names: tuple[str, ...] | None = None) -> None:
        self._left -= 1
        if self._left < 0:
            raise Unkeyable("too many values", f"more than {_MOST}")
        if type(value) in (float, complex) and is_nan(value) and self._again(value):
            return
        super()._value(value, names)

    def _by_kind(self, value: Any) -> None:
        if isinstance(value, enum.Enum):
            self._member(value)
        elif is_array(value):
            self._array(value)
        else:
            base = next((b for b in type(value).__mro__ if b in self.kinds), None)
            if base is None:
                self._unknown(value)
                return
            met = id(value) in self._numbers
            self.kinds[base](self, value)
            if base is not type(value) and base is not type and not met:
                self._extra(value, base)

    def _extra(self, value: Any, base: type) -> None:
        """Put what an instance of a subclass has beyond its built-in type."""
        cls = type(value)
        if not shows_all(cls, base):
            raise Unkeyable("state that cannot be seen", f"{cls.__module__}.{cls.__qualname__}")
        self._class(cls)
        self._state(value, base)

    def _state(self, value: Any, base: type) -> None:
        for c in type(value).__mro__:
            if issubclass(base, c):
                continue
            for name, slot in sorted(vars(c).items()):
                if isinstance(slot, types.MemberDescriptorType):
                    self._put("slot", name.encode())
                    try:
                        self._value(slot.__get__(value))
                    except AttributeError:
                        self._put("unset")
        if type(value).__dictoffset__ != 0:
            if hides_state(type(value)):
                raise Unkeyable("state that its class hides", type(value))
            self._names(object.__getattribute__(value, "__dict__"))

    def _names(self, names: dict[str, Any]) -> None:
        """Put a ``__dict__``, for which a program may have set an instance of a subclass of dict."""
        self._dict(names) if type(names) is dict else self._value(names)

    def _unknown(self, value: Any) -> None:
        """Put an instance of any class: the class, and all that the instance holds."""
        if self._again(value):
            return
        cls = type(value)
        self._put("instance")
        self._class(cls)
        if not shows_all(cls, object):
            raise Unkeyable("state that cannot be seen", f"{cls.__module__}.{cls.__qualname__}")
        self._state(value, object)

    def _text(self, value: Any) -> None:
        """An instance of a subclass of int, float, complex, str or bytes."""
        base: Any = next(b for b in type(value).__mro__ if b in self.plain)
        # By the methods of the base: the class may override them.
        exact = base.__getitem__(value, slice(None)) if base in (str, bytes) else base.__pos__(value)
        self._put(base.__name__, self.plain[base](exact))

    def _sequence(self, value: Any) -> None:
        base = list if isinstance(value, list) else collections.deque if isinstance(value, collections.deque) else tuple
        if base is not tuple and self._again(value):
            return
        self._put(base.__name__, str(base.__len__(value)).encode())
        for item in base.__iter__(value):
            self._value(item)
        if isinstance(value, collections.deque):
            self._value(value.maxlen)

    def _dict(self, value: Any) -> None:
        """A dict, in its order, which a program may see."""
        if self._again(value):
            return
        base: Any = next(b for b in (collections.OrderedDict, collections.defaultdict, dict) if isinstance(value, b))
        self._put(base.__name__, str(dict.__len__(value)).encode())
        for k, v in base.items(value):
            if type(k) not in self.plain and not _finds(value, k):
                raise Unkeyable("key that has another hash now", type(k))
            self._value(k)
            self._value(v)
        if base is collections.defaultdict:
            self._value(value.default_factory)
        elif type(value) is collections.OrderedDict and vars(value):
            self._put("own")
            self._value(vars(value))

    def _set(self, value: Any) -> None:
        """A set: in its order if that is the same in every process, as for numbers; else without."""
        base = frozenset if isinstance(value, frozenset) else set
        if base is set and self._again(value):
            return
        if fixed_order(base.__iter__(value)):
            # The size of its table decides where the next item goes.
            self._put("ordered", f"{base.__name__} {base.__len__(value)} {base.__sizeof__(value)}".encode())
            for item in base.__iter__(value):
                self._value(item)
            return
        named, items = [], []
        for item in base.__iter__(value):
            if isinstance(item, (enum.Enum, type)):
                cls = item if isinstance(item, type) else type(item)
                named.append((f"{cls.__module__}.{cls.__qualname__} {getattr(item, '_name_', '')}", item))
            elif type(item) in self.plain or type(item) in (tuple, frozenset):
                items.append(self._within(self._value, item))
            else:
                raise Unkeyable("set of things that have no order", type(item))
        for _, item in sorted(named, key=lambda pair: pair[0]):
            self._value(item)
        items.sort()
        self._put(base.__name__, str(len(items)).encode())
        self._out += items

    def _bytes(self, value: Any) -> None:
        """A bytearray or an array, which may be changed."""
        if not self._again(value):
            self._put(type(value).__name__, getattr(value, "typecode", "").encode() + bytes(value))
            self._shared(value)

    def _view(self, value: memoryview) -> None:
        said = f"{value.format} {value.shape} {value.strides} {value.suboffsets} {value.readonly}"
        self._put("view", said.encode() + value.tobytes())
        self._shared(value.obj)

    def _shared(self, owner: Any, address: int = 0) -> None:
        """Put which memory a value shares with others: a write to one shows in the other."""
        if id(owner) not in self._owners:
            self._owners[id(owner)] = len(self._owners), address
            self._alive.append(owner)
        number, first = self._owners[id(owner)]
        self._put("memory", f"{number} {address - first}".encode())

    def _namespace(self, value: Any) -> None:
        if not self._again(value):
            self._put("namespace")
            self._dict(vars(value))

    def _struct(self, value: struct.Struct) -> None:
        self._put("struct", value.format.encode())

    def _pattern(self, value: re.Pattern[Any]) -> None:
        self._put("pattern")
        self._value((value.pattern, value.flags))

    def _reduced(self, value: Any) -> None:
        """An instance that is described completely by how it is made anew (``__reduce__``)."""
        self._put("made")
        made: Any = value.__reduce__()[:2]
        for text in made[1]:
            if isinstance(text, str) and any(map(leads_elsewhere, text.split("."))):
                raise Unkeyable("can reach anything", text)
        self._value(made)

    def _array(self, value: Any) -> None:
        """An array of NumPy, a scalar or a type of elements. What holds Python objects is refused."""
        if value.dtype.hasobject if not hasattr(value, "hasobject") else value.hasobject:
            raise Unkeyable("array of Python objects", type(value))
        self._class(type(value))
        if not hasattr(value, "dtype") or hasattr(value, "hasobject"):
            self._value(parts_of(value))
            return
        exact = type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"
        if not exact and (hasattr(value, "__array_finalize__") or type(value).__module__ != "numpy"):
            raise Unkeyable("subclass of an array", type(value))
        if hasattr(value, "strides") and value.ndim and self._again(value):
            return
        self._put("dtype")
        self._value(parts_of(value.dtype))
        self._put("shape", f"{value.shape} {value.strides} {value.flags.writeable} {value.flags.aligned}".encode())
        self._put("data", value.tobytes())
        if hasattr(value, "strides") and value.ndim:
            owner = value
            while getattr(owner, "base", None) is not None:
                owner = owner.base
            self._shared(owner, value.__array_interface__["data"][0])
            self._bases.append((value.flags.owndata, type(value.base).__qualname__, getattr(value.base, "shape", "")))

    def _lock(self, value: Any) -> None:
        """A lock. Whether it is held counts only if some code may ask, because other threads hold it now and then."""
        self._put("lock", type(value).__qualname__.encode())
        if not self._again(value):
            self._locks.append(value)


ValueWalker.kinds = {
    dict: ValueWalker._dict,
    collections.OrderedDict: ValueWalker._dict,
    collections.defaultdict: ValueWalker._dict,
    list: ValueWalker._sequence,
    tuple: ValueWalker._sequence,
    collections.deque: ValueWalker._sequence,
    set: ValueWalker._set,
    frozenset: ValueWalker._set,
    int: ValueWalker._text,
    float: ValueWalker._text,
    complex: ValueWalker._text,
    str: ValueWalker._text,
    bytes: ValueWalker._text,
    bytearray: ValueWalker._bytes,
    array.array: ValueWalker._bytes,
    memoryview: ValueWalker._view,
    slice: ValueWalker._slice,
    types.MappingProxyType: ValueWalker._proxy,
    types.SimpleNamespace: ValueWalker._namespace,
    type: ValueWalker._class,
    staticmethod: ValueWalker._method,
    classmethod: ValueWalker._method,
    types.MethodType: ValueWalker._method,
    property: ValueWalker._property,
    functools.partial: ValueWalker._partial,
    re.Pattern: ValueWalker._pattern,
    struct.Struct: ValueWalker._struct,
    operator.itemgetter: ValueWalker._reduced,
    operator.attrgetter: ValueWalker._reduced,
    operator.methodcaller: ValueWalker._reduced,
    _thread.LockType: ValueWalker._lock,
    _thread.RLock: ValueWalker._lock,
    type(vars(_Named)["x"]): ValueWalker._reduced,
}
