"""The constants of a module as they are written into its source.

Warp's hash has 32 bits of each number, and not whether it is an integer: 1.0 is 1065353216 to it, and 3 is 2**32 + 3.
So what it hashes is noted while it does, with its type and all its digits.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

from warp._src import codegen, context

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = ("hash_adjoint", "get_constant_bytes")

# Where a hasher has its notes: one of each function or kernel that it has hashed.
_NOTES = "_jitcache_notes"

# Warp's own methods, while ours are in their place.
_originals: dict[str, Callable[..., bytes]] = {}

_thread = threading.local()


def unfit() -> str:
    """Return what of this Warp is not as it is known here, "" if all is."""
    missing = [name for name in _METHODS if not callable(getattr(context.ModuleHasher, name, None))]
    if not callable(getattr(codegen, "constant_str", None)):
        missing.append("constant_str")
    return ", ".join(missing)


def attach() -> None:
    """Begin to take notes."""
    for name, make in zip(_METHODS, (_noting, _noted)):
        _originals[name] = getattr(context.ModuleHasher, name)
        setattr(context.ModuleHasher, name, make(_originals[name]))


def detach() -> None:
    """End it."""
    for name, original in _originals.items():
        setattr(context.ModuleHasher, name, original)
    _originals.clear()


def constants(module: Any, block_dim: int) -> list[str] | None:
    """Return the notes on a module that Warp has hashed, None if nobody took any."""
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
        vars(self).setdefault(_NOTES, set()).add(f"{found.hex()} {values}")
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


def _text(value: Any) -> str:
    """Return a constant as Warp writes it, and its type."""
    kind = type(value)
    try:
        text = codegen.constant_str(value)
    except Exception:  # noqa: BLE001 - a structure: all its bytes are in Warp's hash
        text = getattr(getattr(value, "_cls", None), "hash", b"").hex()
    return f"{kind.__module__}.{kind.__qualname__} {text}"
