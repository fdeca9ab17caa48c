"""Triton's fingerprint of itself, computed once per installation and not once per process.

``triton_key()`` reads 500 MB, and every key begins with its answer. While none of the
files that it reads has changed, so is the answer (``_file_memo``).
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import TYPE_CHECKING, Any, Callable

from jitcache import Key
from jitcache._location import machine
from jitcache.adapters._file_memo import remembered

from . import FINGERPRINTS

if TYPE_CHECKING:
    from jitcache import Cache

# The modules that have the function, by version, the current one first.
_PLACES = ("triton.runtime.cache", "triton.compiler.compiler")

_original: Any = None
_ours: Any = None


def attach(cache: Callable[[], Cache]) -> bool:
    """Replace Triton's function by ours; return whether it is replaced."""
    global _original, _ours
    if _ours is not None:
        return True
    found = _find()
    if found is None:
        return False
    _original, computes = found

    @functools.lru_cache(maxsize=1)
    @functools.wraps(computes)
    def triton_key() -> str:
        return _remembered(cache(), computes)

    _ours = triton_key
    _exchange(_original, _ours)
    return True


def detach() -> None:
    """Put Triton's function back."""
    global _original, _ours
    if _ours is not None:
        _exchange(_ours, _original)
        _original = _ours = None


def _find() -> tuple[Any, Callable[[], str]] | None:
    """Return Triton's function, and the function without arguments that it wraps with functools.lru_cache."""
    for place in _PLACES:
        try:
            function: Any = getattr(importlib.import_module(place), "triton_key", None)
        except ImportError:
            continue
        computes: Any = getattr(function, "__wrapped__", None)
        code = getattr(computes, "__code__", None)
        if code is not None and code.co_argcount == code.co_kwonlyargcount == 0 and hasattr(function, "cache_info"):
            return function, computes
    return None


def _exchange(old: Any, new: Any) -> None:
    """Replace the old function in all modules of Triton, as Triton's own workers do that are told the value."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "triton" and getattr(module, "__dict__", {}).get("triton_key") is old:
            module.triton_key = new  # type: ignore[attr-defined]


def _remembered(cache: Cache, computes: Callable[[], str]) -> str:
    """Return the answer, from the cache if nothing from which it was computed has changed."""
    source = computes.__code__.co_filename
    # Inodes and times are valid on one machine only.
    key = Key({"triton fingerprint of": source}, machine=machine(), python=sys.version).named("triton_key")
    return remembered(cache, key, computes, FINGERPRINTS)
