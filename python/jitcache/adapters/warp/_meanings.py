"""Meanings of the names in a module's functions, where Warp's hash does not tell them.

The hash has 32 bits of a constant, and not its type: 1.0 and 1065353216 are the same to it, and so are 3 and 2**32 + 3.
A function of Warp's own that has another name in the program is not in the hash. So while Warp hashes a function, notes
are taken: what each of its names means, and each constant as it is written into the source.
"""

from __future__ import annotations

import ast
import functools
import threading
import types as pytypes
from typing import TYPE_CHECKING, Any

from warp._src import codegen, context

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = ("hash_adjoint", "get_constant_bytes")
_OF_A_FUNCTION = ("reference_nodes", "assigned_name_ids", "resolve_external_reference", "resolve_static_expression")

# The attribute of a hasher that has its notes, one for each function or kernel that it has hashed.
_NOTES = "_jitcache_notes"

# Warp's own methods, while ours replace them.
_originals: dict[str, Callable[..., bytes]] = {}

_thread = threading.local()


def unfit() -> str:
    """Return the parts of this Warp that are not as expected, "" if there is none."""
    missing = [name for name in _METHODS if not callable(getattr(context.ModuleHasher, name, None))]
    missing += [name for name in _OF_A_FUNCTION if not callable(getattr(codegen.Adjoint, name, None))]
    if not callable(getattr(codegen, "constant_str", None)):
        missing.append("constant_str")
    return ", ".join(missing)


def attach() -> None:
    """Replace Warp's methods by ones that take notes."""
    for name, make in zip(_METHODS, (_noting, _noted)):
        _originals[name] = getattr(context.ModuleHasher, name)
        setattr(context.ModuleHasher, name, make(_originals[name]))


def detach() -> None:
    """Put Warp's methods back."""
    for name, original in _originals.items():
        setattr(context.ModuleHasher, name, original)
    _originals.clear()


def meanings(module: Any, block_dim: int) -> list[str] | None:
    """Return the notes on a module that Warp has hashed, None if none were taken."""
    notes = getattr(module.hashers.get(block_dim), _NOTES, None)
    return None if notes is None else sorted(notes)


def _noting(original: Callable[..., bytes]) -> Callable[..., bytes]:
    @functools.wraps(original)
    def hash_adjoint(self: Any, adj: Any) -> bytes:
        outer = getattr(_thread, "values", None)
        values = _thread.values = []
        try:
            found = original(self, adj)
        finally:
            _thread.values = outer
        # The hash says which function it is, and in which order its constants are.
        vars(self).setdefault(_NOTES, set()).add(f"{found.hex()} {values} {sorted(_names(adj).items())}")
        return found

    return hash_adjoint


def _noted(original: Callable[..., bytes]) -> Callable[..., bytes]:
    @functools.wraps(original)
    def get_constant_bytes(self: Any, value: Any) -> bytes:
        values = getattr(_thread, "values", None)
        if values is not None:
            values.append(_text(value))
        return original(self, value)

    return get_constant_bytes


def _names(adj: Any) -> dict[str, str]:
    """Return the meaning of each name in a function that is not one of its own variables."""
    own = adj.assigned_name_ids()
    found = {name: _text(value) for name, value in (getattr(adj, "callable_arg_values", None) or {}).items()}
    for node in adj.reference_nodes():
        if isinstance(node, ast.Name) and node.id not in own:
            found[node.id] = _text(adj.resolve_external_reference(node.id))
        elif isinstance(node, ast.Attribute):
            value, path = adj.resolve_static_expression(node, eval_types=False)
            found[".".join(path or [ast.unparse(node)])] = _text(value)
    return found


def _text(value: Any) -> str:
    """Return a constant's type and its text in Warp's source; for anything else, a text that identifies it."""
    kind = type(value)
    if isinstance(value, context.Function):
        text = f"{value.key} {value.native_func if value.is_builtin() else ''}"
    elif isinstance(value, (type, pytypes.FunctionType, pytypes.BuiltinFunctionType)):
        text = f"{value.__module__}.{value.__qualname__}"
    elif isinstance(value, pytypes.ModuleType):
        text = value.__name__
    else:
        try:
            text = codegen.constant_str(value)
        except Exception:  # noqa: BLE001 - a structure: all its bytes are in Warp's hash
            digest: Any = getattr(getattr(value, "_cls", value), "hash", None)
            text = digest.hex() if isinstance(digest, bytes) else ""
    return f"{kind.__module__}.{kind.__qualname__} {text}"
