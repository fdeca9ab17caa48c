"""The cache of callers that name none."""

from __future__ import annotations

import _thread
import os

from ._cache import Cache

_default: Cache | None = None
_lock = _thread.allocate_lock()


def default_cache() -> Cache:
    """Return the cache of this process that the environment describes.

    It is opened at the first call and shared by all callers.
    """
    global _default
    if _default is None:
        with _lock:
            if _default is None:
                _default = Cache()
    return _default


def cache_of(cache: Cache | bool | None) -> Cache | None:
    """Return the cache that an argument means: None is the default one, False none."""
    if cache is None:
        return default_cache()
    if cache is False:
        return None
    if not isinstance(cache, Cache):
        raise TypeError(f"cache: want a Cache, None or False, not {type(cache).__qualname__}")
    return cache


def has_directory(cache: Cache, name: str, framework: str) -> bool:
    """Return whether a cache has a directory; if not, warn that the framework of an adapter keeps its own cache."""
    if cache.stats().get("directory"):
        return True
    why = cache.last_miss or "it has no directory"
    import logging  # only here: whoever imports jitcache need not

    logging.getLogger("jitcache").warning("%s: no cache (%s): %s's own stays as it is", name, why, framework)
    return False


def _after_fork() -> None:
    global _lock
    _lock = _thread.allocate_lock()


os.register_at_fork(after_in_child=_after_fork)
