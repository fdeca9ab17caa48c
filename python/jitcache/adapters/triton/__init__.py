"""Triton's compiled kernels in a jitcache.

    TRITON_CACHE_MANAGER=jitcache.adapters.triton:Manager python program.py

or in the program, which is ten times as fast if nothing must be compiled:

    import jitcache.adapters.triton

    jitcache.adapters.triton.install()

``docs/triton.md`` says what is kept, where its files are, and what is not kept. For
Triton 3.3 to 3.9. Importing this module does not import Triton; naming ``Manager``
and calling ``install`` do.

The attributes of an entry are Triton's key, the names of the kernel's files, and the
target that it was compiled for. ``clear`` leaves the files in ``TRITON_CACHE_DIR``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitcache.adapters._frame import AdapterFrame

if TYPE_CHECKING:
    from jitcache import Cache

    from ._manager import Manager

__all__ = ["KIND", "Manager", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "triton"

#: The kind of the entries that hold Triton's fingerprint of itself.
FINGERPRINTS = "_triton-key"

_cache = AdapterFrame(KIND, "Triton", __name__, (FINGERPRINTS,))
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear


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
