"""CuPy's kernels in a jitcache.

    import jitcache.adapters.cupy

    jitcache.adapters.cupy.install()

From then on a kernel that CuPy would compile with NVRTC is looked up in a jitcache,
by everything that its compile looks at. It is compiled once, however many threads and
processes ask.

``docs/cupy.md`` says what is in a key and what is not cached. Importing this module
does not import CuPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitcache.adapters._chosen import Chosen

if TYPE_CHECKING:
    from jitcache import Cache

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "cupy"

_cache = Chosen(KIND, "CuPy")


def install(cache: Cache | None = None) -> bool:
    """Serve CuPy's kernels from a jitcache, in this process; return whether that was done.

    ``cache``: the cache; default ``jitcache.default_cache()``. Returns False if it has
    no directory, or if this CuPy is not as the adapter expects: then nothing is changed,
    and a warning of the logger ``jitcache`` says why.

    Kernels that are loaded already stay as they are. May be called again, to change
    the cache. Raises ImportError without CuPy.
    """
    from . import _hooks

    return _cache.attach(cache, _hooks)


def uninstall() -> None:
    """Leave kernels that are compiled from now on to CuPy and its own cache."""
    from . import _hooks

    _hooks.detach()
    _cache.given = None


def uncached() -> dict[str, int]:
    """Return why kernels of this process were left to CuPy or not kept, and how often: ``{"nvcc": 2}``."""
    return dict(_cache.reasons)


def entries() -> list[dict[str, Any]]:
    """Return a description of each entry, as ``jitcache ls --json`` prints it; the name contains the first kernel's."""
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of CuPy's kernels, and no others. Files that CuPy keeps itself stay."""
    _cache().clear(KIND)
