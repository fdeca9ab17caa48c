"""Objects: the result of a compile as bytes of an object file, and back as something to call."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import os
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache._code import Unkeyable
from jitcache._fork import ForkLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The prefix of the symbols in an object file. Each is loaded into a namespace of its own, so all have the same prefix.
PREFIX = "jitcache"

_loading = ForkLock()


class Call(NamedTuple):
    """How a result of the TVM FFI route is called: its parameters, by name."""

    positional: list[str]
    keywords: list[str]


class ObjectFile(NamedTuple):
    """An object file: its bytes, and what is needed beside them."""

    data: bytes
    call: Call | None  # None: the ABI route, which has its signature in the object
    handles: tuple[str, ...] = ()  # parameters whose default is a handle, which is valid in one process only

    def attributes(self) -> dict[str, Any]:
        """Return those attributes of its entry that say how to call it."""
        if self.call is not None:
            return {"positional": self.call.positional, "keywords": self.call.keywords}
        return {"handles": list(self.handles)} if self.handles else {}


def object_file_of(data: bytes, attributes: dict[str, Any]) -> ObjectFile:
    """Return the object file of an entry."""
    if "positional" not in attributes:
        return ObjectFile(data, None, tuple(attributes.get("handles", ())))
    return ObjectFile(data, Call(attributes["positional"], attributes["keywords"]))


def export(result: Any, *, tvm_ffi: bool) -> ObjectFile:
    """Return the result of a compile as an object file. Raises Unkeyable if it cannot be exported."""
    if getattr(result, "_pyir_spec", None) is not None:
        raise Unkeyable("other frontend", "its result looks at Python's state at each call")
    try:
        return _export_tvm_ffi(result) if tvm_ffi else _export_abi(result)
    except Unkeyable:
        raise
    except Exception as e:
        raise Unkeyable("cannot be exported", e) from e


def _export_abi(result: Any) -> ObjectFile:
    """Export a result whose object file has the signature as a pickle, without handles (of a default stream, say)."""
    taken = result.execution_args
    whole = taken.signature
    handles = [p for p in whole.parameters.values() if is_handle(p.default)]
    if handles:
        taken.signature = _with_defaults(whole, dict.fromkeys(p.name for p in handles))
    try:
        return ObjectFile(result.dump_to_object(PREFIX), None, tuple(p.name for p in handles))
    finally:
        taken.signature = whole


def is_handle(value: Any) -> bool:
    """Return whether a value is a handle of the driver's: a number that is valid in one process only."""
    return type(value).__module__.startswith("cuda.bindings") and not isinstance(value, enum.Enum)


def _with_defaults(signature: inspect.Signature, defaults: dict[str, Any]) -> inspect.Signature:
    return signature.replace(
        parameters=[p.replace(default=defaults.get(n, p.default)) for n, p in signature.parameters.items()]
    )


def _export_tvm_ffi(result: Any) -> ObjectFile:
    wrapper = getattr(result, "_kwargs_wrapper", None)
    if wrapper is None:
        import tvm_ffi

        if not isinstance(result, tvm_ffi.Function):
            raise Unkeyable("cannot be exported", f"unknown parameters of {type(result).__qualname__}")
        names = Call([], [])  # it has no parameters that a caller passes
    else:
        kinds: dict[Any, list[str]] = {}
        for p in inspect.signature(wrapper).parameters.values():
            kinds.setdefault(p.kind, []).append(p.name)
        names = Call(
            kinds.pop(inspect.Parameter.POSITIONAL_OR_KEYWORD, []), kinds.pop(inspect.Parameter.KEYWORD_ONLY, [])
        )
        if kinds:
            raise Unkeyable("cannot be exported", "unknown kinds of parameters")
    with tempfile.TemporaryDirectory(prefix="jitcache-") as folder:
        path = os.path.join(folder, "kernel.o")
        result.export_to_c(path, function_name=PREFIX)
        with open(path, "rb") as f:
            return ObjectFile(f.read(), names)


@contextlib.contextmanager
def _path(data: bytes) -> Iterator[str]:
    """Yield a path to these bytes that nobody else can write, and that does not end in .so like a library's."""
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("jitcache", os.MFD_CLOEXEC), "w+b") as f:
            f.write(data)
            f.flush()
            yield f"/proc/self/fd/{f.fileno()}"
        return
    with tempfile.NamedTemporaryFile(prefix="jitcache-", suffix=".o") as f:
        f.write(data)
        f.flush()
        yield f.name


def load(
    made: ObjectFile, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Return what an object file defines: the DSL's own object for it, and what to call.

    ``function``, ``args``, ``kwargs``: what it was compiled from. They have the defaults,
    and show which arguments are dataclasses. Raises what the DSL raises.
    """
    from cutlass.cute.runtime import load_module

    with _loading(), _path(made.data) as path:
        found = load_module(path, enable_tvm_ffi=made.call is not None)[PREFIX]
    if made.call is None:
        if made.handles:
            given = inspect.signature(function).parameters
            taken = found.execution_args
            taken.signature = _with_defaults(taken.signature, {name: given[name].default for name in made.handles})
            taken._meta = taken._build_meta()
        return found, found
    return found, _with_names(found, made.call, function, _bound(function, args, kwargs))


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _with_names(found: Any, call: Call, function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Give a bare positional function its parameters' names and defaults."""
    from tvm_ffi.utils import kwargs_wrapper

    defaults = {
        name: p.default
        for name, p in inspect.signature(function).parameters.items()
        if p.default is not inspect.Parameter.empty
    }
    last = [name for name in call.positional if name in defaults]
    if call.positional[len(call.positional) - len(last) :] != last:
        raise ValueError("a parameter without a default behind one with a default")
    return kwargs_wrapper.make_kwargs_wrapper(
        found,
        arg_names=call.positional,
        arg_defaults=tuple(defaults[name] for name in last),
        kwonly_names=call.keywords,
        kwonly_defaults={name: defaults[name] for name in call.keywords if name in defaults},
        map_dataclass_to_tuple=[
            name
            for name in (*call.positional, *call.keywords)
            if dataclasses.is_dataclass(given.get(name)) and not isinstance(given.get(name), type)
        ],
    )
