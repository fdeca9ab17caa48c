"""Warp's modules in a jitcache.

    import jitcache.adapters.warp

    jitcache.adapters.warp.install()

From then on a module that Warp would compile is looked up in a jitcache, and
compiled once, however many threads and processes ask. Its files are put where Warp
keeps its own.

``docs/warp.md`` says what is in a key and what is not cached. Importing this module
does not import Warp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitcache.adapters._chosen import Chosen

if TYPE_CHECKING:
    from jitcache import Cache

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "warp"

_cache = Chosen(KIND, "Warp")


def install(cache: Cache | None = None) -> bool:
    """Serve Warp's modules from a jitcache, in this process; return whether that was done.

    ``cache``: the cache; default ``jitcache.default_cache()``. Returns False if it has
    no directory, or if this Warp is not as the adapter expects: then nothing is changed,
    and a warning of the logger ``jitcache`` says why.

    Modules that are loaded already stay as they are. May be called again, to change
    the cache. Raises ImportError without Warp.
    """
    from . import _hooks

    return _cache.attach(cache, _hooks)


def uninstall() -> None:
    """Leave modules that are loaded from now on to Warp."""
    from . import _hooks

    _hooks.detach()
    _cache.given = None


def uncached() -> dict[str, int]:
    """Return why modules of this process were left to Warp or not stored, and how often: ``{"build options": 2}``."""
    return dict(_cache.reasons)


def entries() -> list[dict[str, Any]]:
    """Return a description of each entry, as ``jitcache ls --json`` prints it; the name is that of Warp's module."""
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of Warp's modules, and no others. Files that Warp keeps itself stay."""
    _cache().clear(KIND)
