"""The default cache: the one of callers that name none."""

from __future__ import annotations

from ._cache import Cache

# The cache, under "". There is no lock: opening the cache may run a signal handler, a destructor
# or a log handler that asks for it too, in this thread or while another thread waits for that one.
_opened: dict[str, Cache] = {}


def default_cache() -> Cache:
    """Return this process's cache with the settings of the environment; see ``Cache``.

    It is opened at the first call and shared by all callers and threads, also in
    forked children. Do not close it.
    """
    try:
        return _opened[""]
    except KeyError:
        pass
    cache = Cache()
    first = _opened.setdefault("", cache)  # atomic
    if first is not cache:  # another call has opened it meanwhile
        cache.close()
    return first


def cache_of(cache: Cache | bool | None) -> Cache | None:
    """Return the cache that an argument ``cache`` means: the default one for None, no cache for False."""
    if cache is None:
        return default_cache()
    if cache is False:
        return None
    if not isinstance(cache, Cache):
        raise TypeError(f"cache: want a Cache, None or False, not {type(cache).__qualname__}")
    return cache


def has_directory(cache: Cache, name: str, instead: str) -> bool:
    """Return whether a cache has a directory; if not, warn. ``instead`` says what the framework does then."""
    if cache.stats().get("directory"):
        return True
    why = cache.last_miss or "it has no directory"
    import logging  # not at the top: import jitcache would take longer

    logging.getLogger("jitcache").warning("%s: no cache (%s): %s", name, why, instead)
    return False
