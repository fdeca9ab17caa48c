"""The cache of callers that name none."""

from __future__ import annotations

from ._cache import Cache

# One cache, under "". There is no lock: opening it may run a signal handler, a destructor or a
# handler of a log, which may ask for it too, in this thread or where another waits for it.
_opened: dict[str, Cache] = {}


def default_cache() -> Cache:
    """Return the cache of this process that the environment describes.

    It is opened at the first call and shared by all callers.
    """
    try:
        return _opened[""]
    except KeyError:
        pass
    cache = Cache()
    first = _opened.setdefault("", cache)  # in one step
    if first is not cache:  # somebody has opened it meanwhile
        cache.close()
    return first


def cache_of(cache: Cache | bool | None) -> Cache | None:
    """Return the cache that an argument means: None is the default one, False none."""
    if cache is None:
        return default_cache()
    if cache is False:
        return None
    if not isinstance(cache, Cache):
        raise TypeError(f"cache: want a Cache, None or False, not {type(cache).__qualname__}")
    return cache


def has_directory(cache: Cache, name: str, instead: str) -> bool:
    """Return whether a cache has a directory; if not, warn, with what an adapter has its framework do instead."""
    if cache.stats().get("directory"):
        return True
    why = cache.last_miss or "it has no directory"
    import logging  # only here: whoever imports jitcache need not

    logging.getLogger("jitcache").warning("%s: no cache (%s): %s", name, why, instead)
    return False
