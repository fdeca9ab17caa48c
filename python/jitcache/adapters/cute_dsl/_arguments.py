"""Arguments of a compile, as bytes that are the same in every process.

The traced module contains the types and layouts of the arguments, but not how a result
checks and converts the arguments of a call: the TVM FFI route derives that from the
compile's arguments, after the trace. There two dimensions are equal if they are the same
``SymInt`` object, so objects are numbered as they are met. (The DSL's own
``__cache_key__`` has their addresses, which mean nothing in other processes.)
"""

from __future__ import annotations

import enum
import inspect
import struct
from typing import TYPE_CHECKING, Any

from jitcache._code import Unkeyable, pack

if TYPE_CHECKING:
    from collections.abc import Callable

_DEEPEST = 50


def name_of(cls: type) -> str:
    """Return the module and name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


class Shapes:
    """Describes arguments by their declarations, not by their data."""

    def __init__(self) -> None:
        self._met: dict[int, int] = {}
        self._kept: list[Any] = []
        self._depth = 0

    def of(self, value: Any) -> bytes:
        """Return a value as bytes."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                raise Unkeyable("too deep", type(value))
            return self._of(value)
        finally:
            self._depth -= 1

    def _of(self, value: Any) -> bytes:
        if value is None or type(value) in (bool, int, str, bytes):
            return f"{type(value).__name__} {value!r}".encode()
        if type(value) is float:
            return b"float " + struct.pack("<d", value)
        if isinstance(value, type):
            return f"class {name_of(value)}".encode()
        if isinstance(value, enum.Enum):
            return f"{name_of(type(value))}.{value.name}".encode()
        name = name_of(type(value)).encode()
        if isinstance(value, (list, tuple)):
            return pack(name, *map(self.of, value))
        if id(value) in self._met:
            return b"again %d" % self._met[id(value)]
        self._met[id(value)] = len(self._met)
        self._kept.append(value)
        if isinstance(value, dict):
            return pack(name, *(self.of(item) for pair in value.items() for item in pair))
        if hasattr(value, "dtype") and hasattr(value, "device") and hasattr(value, "shape"):
            # A tensor with data, inside one of the DSL's. The result checks its device, and those of other tensors.
            said = (value.device, getattr(value.device, "index", None), value.dtype, tuple(value.shape))
            return pack(name, " ".join(map(str, said)).encode())
        # The address of a pointer is no part of what is compiled, and the data of a tensor are not in its attributes.
        state = {n: v for n, v in getattr(value, "__dict__", {}).items() if n not in _ADDRESSES}
        return pack(name, *(part for n in sorted(state) for part in (n.encode(), self.of(state[n]))))


_ADDRESSES = frozenset({"_pointer", "_desc", "_c_pointer", "_c_pointers_cache", "_dlpack_data", "_memref_desc"})


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return a function's signature. Annotations that are text are evaluated if that is possible."""
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # noqa: BLE001 - whatever an annotation raises
        return inspect.signature(function)


def describe_signature(function: Callable[..., Any]) -> bytes:
    """Return names, kinds, annotations and defaults of parameters, by which a result converts its arguments."""
    shapes = Shapes()
    parts = []
    for p in signature_of(function).parameters.values():
        annotation = p.annotation
        text = name_of(annotation) if isinstance(annotation, type) else repr(annotation)
        if " at 0x" in text:
            raise Unkeyable("annotation", text)
        default = b"" if p.default is inspect.Parameter.empty else pack(shapes.of(p.default))
        parts.append(pack(p.name.encode(), str(int(p.kind)).encode(), text.encode(), default))
    return pack(*parts)


def describe_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
    """Return what a result checks of these arguments when it is called."""
    shapes = Shapes()
    return pack(
        *map(shapes.of, args), *(pack(name.encode(), shapes.of(value)) for name, value in sorted(kwargs.items()))
    )


def function_and_receiver(function: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the function of what was given to compile, and the receiver if there is one."""
    if inspect.isfunction(function):
        return function, ()
    if inspect.ismethod(function):
        return function.__func__, (function.__self__,)
    call = inspect.getattr_static(type(function), "__call__", None)
    if inspect.isfunction(call):
        return call, (function,)
    raise Unkeyable("not a function", type(function).__qualname__)
