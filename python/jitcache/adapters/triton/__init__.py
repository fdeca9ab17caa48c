"""Triton's compiled kernels in a jitcache.

    TRITON_CACHE_MANAGER=jitcache.adapters.triton:Manager python program.py

or in the program, which is ten times as fast if nothing must be compiled:

    import jitcache.adapters.triton

    jitcache.adapters.triton.install()

``docs/triton.md`` says what is kept, where its files are, and what is not kept. For
Triton 3.3 to 3.9. Importing this module does not import Triton; naming ``Manager``
and calling ``install`` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitcache.adapters._chosen import Chosen

if TYPE_CHECKING:
    from jitcache import Cache

    from ._manager import Manager

__all__ = ["KIND", "Manager", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "triton"

_cache = Chosen(KIND, "Triton")


def __getattr__(name: str) -> Any:
    """Define the class at its first use: its base class is Triton's."""
    if name != "Manager":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._manager import Manager

    globals()[name] = Manager
    return Manager


def install(cache: Cache | None = None) -> bool:
    """Let Triton use a jitcache in this process, and compute its own fingerprint once per installation.

    ``cache``: the cache; default ``jitcache.default_cache()``. Does all that
    ``TRITON_CACHE_MANAGER`` does. In addition, the cache answers ``triton_key()``, which
    would read 500 MB in each process, as long as none of the files that it reads has
    changed. Kernels that are compiled already stay as they are.

    May be called again, with another cache. Returns whether the fingerprint is
    cached too: False if this Triton computes it in an unknown way. Raises ImportError
    without Triton.
    """
    from . import _fingerprint, _hook

    _cache.given = cache
    _hook.attach()
    return _fingerprint.attach(_cache)


def uninstall() -> None:
    """Leave kernels that are compiled from now on to Triton's own cache."""
    from . import _fingerprint, _hook

    _cache.given = None
    _hook.detach()
    _fingerprint.detach()


def uncached() -> dict[str, int]:
    """Return why kernels of this process were not kept, and how often: ``{"overridden": 2}``.

    The logger ``jitcache`` logs each of them at level INFO, with the kernel.
    """
    from ._refused import uncached as counted

    return dict(counted)


def entries() -> list[dict[str, Any]]:
    """Return a description of each entry, as ``jitcache ls -json`` prints it.

    The attributes of a kernel are Triton's key, the names of its files, and the
    target that it was compiled for.
    """
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of Triton's kernels, and no others. Files in ``TRITON_CACHE_DIR`` stay."""
    from ._fingerprint import KIND as FINGERPRINTS

    for kind in (KIND, FINGERPRINTS):
        _cache().clear(kind)
