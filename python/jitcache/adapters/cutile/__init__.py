"""cuTile's kernels in a jitcache.

    import jitcache.adapters.cutile

    jitcache.adapters.cutile.install()

From then on what cuTile would give to its compiler ``tileiras`` is looked up in a
jitcache first, by everything that the compiler looks at. It is compiled once, however
many threads and processes ask. cuTile's own cache is neither read nor written.

``docs/cutile.md`` says what is in a key and what is not cached. Importing this module
does not import cuTile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitcache.adapters._chosen import Chosen

if TYPE_CHECKING:
    from jitcache import Cache

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "cutile"

_cache = Chosen(KIND, "cuTile")


def install(cache: Cache | None = None) -> bool:
    """Serve cuTile's kernels from a jitcache, in this process; return whether that was done.

    ``cache``: the cache; default ``jitcache.default_cache()``. Returns False if it has
    no directory, or if this cuTile is not as the adapter expects: then nothing is
    changed, and a warning of the logger ``jitcache`` says why.

    Kernels that are compiled already stay as they are. May be called again, to change
    the cache. Raises ImportError without cuTile.
    """
    from . import _hooks

    return _cache.attach(cache, _hooks)


def uninstall() -> None:
    """Leave kernels that are compiled from now on to cuTile and its own cache."""
    from . import _hooks

    _hooks.detach()
    _cache.given = None


def uncached() -> dict[str, int]:
    """Return why compiles of this process were left to cuTile or not kept, and how often."""
    return dict(_cache.reasons)


def entries() -> list[dict[str, Any]]:
    """Return a description of each entry, as ``jitcache ls --json`` prints it; the name is the kernel's."""
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of cuTile's kernels, and no others. cuTile's own cache stays."""
    _cache().clear(KIND)
