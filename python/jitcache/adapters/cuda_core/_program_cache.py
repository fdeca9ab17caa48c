"""ProgramCache: cuda.core's interface of a program cache, over a jitcache."""

from __future__ import annotations

import os
import time
import weakref
from typing import TYPE_CHECKING, Any

from cuda.core import ObjectCode
from cuda.core.utils import ProgramCacheResource

from jitcache import Cache, Key
from jitcache._location import is_network

from . import KIND
from ._stat_cache import LARGEST, StatCache

if TYPE_CHECKING:
    from types import TracebackType

# With a smaller cap than this, every hit reads the entry and renews its time of use, so
# that the entry that is evicted is exactly the least recently used one. The store itself
# renews it at every hit only if there are fewer than 64 entries.
_EXACT_BELOW = 64 * LARGEST

# How many Key objects are kept: making one takes 7 us, a hit 4 us.
_MOST_KEYS = 4096


def _bytes_of(key: object) -> bytes:
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    if isinstance(key, str):
        return key.encode()
    raise TypeError(f"cache keys must be bytes or str, got {type(key).__name__}")


def _payload(value: object) -> bytes:
    """Return the bytes to store; those of an ObjectCode that names a file are in the file."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, ObjectCode):
        raise TypeError(f"cache values must be bytes-like or ObjectCode, got {type(value).__name__}")
    code = value.code
    if not isinstance(code, str):
        return bytes(code)
    try:
        with open(code, "rb") as f:
            return f.read()
    except FileNotFoundError:
        raise FileNotFoundError(f"path-backed ObjectCode: {code} does not exist any more") from None


def _open_cache(path: str | os.PathLike[str] | None, cap: int | None, *, shared: bool) -> Cache:
    if path is None:
        found = Cache().stats().get("directory") if cap is not None else None
        directory = os.path.join(found, KIND) if found else None
    else:
        text = os.fspath(path)
        if not isinstance(text, str):
            raise TypeError(f"path: want str or a path of str, not {type(text).__name__}")
        if not text:
            raise ValueError("path: is empty")
        directory = os.path.abspath(text)
    cache = Cache(directory, max_size=cap, shared=shared)
    if not cache.stats().get("directory"):
        return cache  # in memory only
    # Without the tier in memory: it would return entries that another process has replaced.
    return Cache(directory, max_size=cap, memory_size=0, shared=shared)


def _stat_cache_of(cache: Cache) -> StatCache | None:
    """Return a StatCache for a cache; None where a stat does not tell whether bytes are still valid."""
    directory = cache.stats().get("directory")
    try:
        # On a network file system a stat may show another machine's change seconds late; an open shows it at once.
        return StatCache(cache, directory, KIND) if directory and not is_network(os.stat(directory).st_dev) else None
    except OSError:
        return None


class ProgramCache(ProgramCacheResource):  # type: ignore[misc]  # cuda.core may be absent when types are checked
    """A jitcache where cuda.core takes a program cache, such as its FileStreamProgramCache.

    ``path``: the directory; None for that of ``jitcache.default_cache()``, where the
    entries lie beside others. ``max_size_bytes``: the cap of the directory, in which
    each entry counts with its description of some 300 bytes; None keeps the directory's
    cap. With a cap and no path, the directory is ``cuda.core`` in the default one.
    ``shared``: consent to run what others have put into the directory, which a group
    may write or somebody else owns.

    Keys are bytes, bytearray or str ("k" is b"k"), values bytes-like or ObjectCode;
    lookups return bytes. An assignment replaces the entry for all processes at once.
    ``len`` and ``clear`` are about the entries of kind "cuda.core" only. There is no
    ``in``, as in cuda.core's own: look the bytes up, and they are either there or not.

    A lookup that fails is a miss, and an entry that cannot be stored is left out:
    neither raises, and ``cache.last_miss`` and ``cache.last_reason`` say why. If the
    directory is not used, for example because others may write it, a warning says why,
    and entries are kept in memory. Methods may be called from any thread, and in a
    forked child. Raises ValueError if ``max_size_bytes`` is not positive or ``path`` is
    empty, TypeError for another type.
    """

    #: ``in`` and iteration raise TypeError. Without these lines Python would try the keys 0, 1, …
    __contains__ = None
    __iter__ = None

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None, shared: bool = False
    ) -> None:
        if max_size_bytes is not None:
            if isinstance(max_size_bytes, bool) or not isinstance(max_size_bytes, int):
                raise TypeError(f"max_size_bytes: want int, not {type(max_size_bytes).__name__}")
            if max_size_bytes <= 0:
                raise ValueError(f"max_size_bytes: want a positive number, not {max_size_bytes}")
        #: The ``jitcache.Cache`` behind it, which has ``stats()``, ``verify()``, ``last_miss`` and so on.
        self.cache = _open_cache(path, max_size_bytes, shared=shared)
        self._keys: dict[bytes, Key] = {}
        self._missed: dict[bytes, float] = {}  # when a key was looked up in vain, which is when its compile begins
        self._stat_cache: StatCache | None = None
        if max_size_bytes is None or max_size_bytes >= _EXACT_BELOW:
            self._stat_cache = _stat_cache_of(self.cache)
        if self._stat_cache is not None:
            weakref.finalize(self, self._stat_cache.clear)  # reports the hits, at exit too

    def _key(self, name: bytes) -> Key:
        key = self._keys.get(name)
        if key is None:
            if len(self._keys) >= _MOST_KEYS:
                self._keys.clear()
            key = self._keys[name] = Key({"cuda.core program": name})
        return key

    def get(self, key: bytes | str, default: Any = None) -> Any:
        """Return the bytes under a key, ``default`` if there are none. Raises TypeError for a key of another type."""
        name = key if type(key) is bytes else _bytes_of(key)
        cached = self._stat_cache
        if cached is None:
            data = self.cache.get(self._key(name), kind=KIND)
            return self._missing(name, default) if data is None else data
        data = cached.get(name)
        return self._read(cached, name, default) if data is None else data

    def _read(self, cached: StatCache, name: bytes, default: Any) -> Any:
        key = self._key(name)
        snapshot = cached.snapshot(key)
        data = self.cache.get(key, kind=KIND)
        if data is None:
            return self._missing(name, default)
        cached.keep(name, key, snapshot, data)
        return data

    def _missing(self, name: bytes, default: Any) -> Any:
        """Note when a lookup missed. cuda.core compiles then, and assigns the result."""
        if len(self._missed) >= _MOST_KEYS:
            self._missed.clear()
        self._missed[name] = time.monotonic()
        return default

    def __getitem__(self, key: bytes | str) -> bytes:
        data: bytes | None = self.get(key)
        if data is None:
            raise KeyError(key)
        return data

    def __setitem__(self, key: bytes | str, value: Any) -> None:
        name, data = _bytes_of(key), _payload(value)
        entry, attributes = self._key(name), None
        if isinstance(value, ObjectCode):
            entry, attributes = entry.named(value.name or ""), {"target": str(value.code_type)}
        if self._stat_cache is not None:
            self._stat_cache.drop(name)
        began = self._missed.pop(name, None)
        seconds = None if began is None else time.monotonic() - began
        self.cache.put(entry, data, attributes=attributes, kind=KIND, replace=True, seconds=seconds)

    def __delitem__(self, key: bytes | str) -> None:
        name = _bytes_of(key)
        if self._stat_cache is not None:
            self._stat_cache.drop(name)
        if not self.cache.remove(self._key(name)):
            raise KeyError(key)

    def __len__(self) -> int:
        return self.cache.count(KIND if self.cache.stats().get("directory") else None)

    def __bool__(self) -> bool:
        """Return True, also for an empty cache."""
        return True

    def clear(self) -> None:
        """Remove the entries of this kind, and no others."""
        if self._stat_cache is not None:
            self._stat_cache.clear()
        self.cache.clear(KIND)

    def close(self) -> None:
        """Write the counters and free the memory. As cuda.core's, the cache can still be used afterwards."""
        if self._stat_cache is not None:
            self._stat_cache.clear()
        self.cache.flush()

    def __enter__(self) -> ProgramCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<jitcache ProgramCache {self.cache.stats().get('directory') or self.cache.last_miss}>"
