"""Warp's modules in a jitcache.

    import jitcache.adapters.warp

    jitcache.adapters.warp.install()

From then on a module that Warp would compile is looked up in a jitcache, and
compiled once however many threads and processes ask. Its files are put where Warp
keeps its own.

``docs/warp.md`` says what is in a key and what is not cached. Importing this module
does not import Warp.
"""

from __future__ import annotations

import logging
from typing import Any

from jitcache import Cache, default_cache
from jitcache._default import has_directory

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "warp"

_given: Cache | None = None


def _cache() -> Cache:
    return default_cache() if _given is None else _given


def install(cache: Cache | None = None) -> bool:
    """Have Warp's modules come from a jitcache, in this process; return whether they do.

    ``cache``: which one; without it ``jitcache.default_cache()``. False if there is no
    directory, or if this Warp is not as the adapter knows it: then nothing is changed,
    and the logger ``jitcache`` has a line that says why.

    Modules that are loaded already stay as they are. May be called again, to change
    the cache. Raises ImportError without Warp.
    """
    global _given
    from . import _hooks

    if not has_directory(default_cache() if cache is None else cache, KIND, "Warp"):
        return False
    unfit = _hooks.unfit()
    if unfit:
        logging.getLogger("jitcache").warning("warp: %s is not as expected: Warp's own cache stays as it is", unfit)
        return False
    _given = cache
    _hooks.attach(_cache)
    return True


def uninstall() -> None:
    """Leave modules that are loaded from now on to Warp."""
    global _given
    from . import _hooks

    _hooks.detach()
    _given = None


def uncached() -> dict[str, int]:
    """Return why modules of this process were left to Warp or not stored, and how often: ``{"build options": 2}``."""
    from ._reasons import reasons

    return dict(reasons)


def entries() -> list[dict[str, Any]]:
    """Return what is known of each entry, as ``jitcache ls -json`` prints it; the name is that of Warp's module."""
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of Warp's modules, and no others. Files that Warp keeps itself stay."""
    _cache().clear(KIND)
