"""Maintenance: listing, removing, verifying and counting entries."""

from __future__ import annotations

import ctypes

from . import _ffi
from ._key import Key, checked_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Callable

    from ._shapes import Explanation, Verified
    from ._view_tier import ViewTier

_byref = ctypes.byref
_void_p = ctypes.c_void_p


class Maintained:
    """The part of ``Cache`` that lists, removes, verifies and counts entries."""

    _lib: _ffi.Library | None
    _handle: _void_p | None
    _views: ViewTier | None

    def _usable(self, status: int) -> bool:
        """Return whether this process has a cache, by a call's status. Raises Error for one that is an error."""
        raise NotImplementedError

    def _changing(self, function: Callable[..., int], *args: Any) -> int:
        """Call a function of the library that may replace or remove existing entries."""
        views = self._views
        if views is None:
            return function(*args)
        views.begin_change()
        try:
            return function(*args)
        finally:
            views.end_change()

    def remove(self, key: Key) -> bool:
        """Remove an entry from the directory and from memory; return whether there was one.

        Other caches that have it in memory go on returning it.
        """
        handle = self._handle
        if self._lib is None or handle is None:
            checked_key(key)
            return False
        status = self._changing(self._lib.jitcache_remove, handle, checked_key(key)._handle_for(self._lib))
        return self._usable(status) and status == _ffi.OK

    def trim(self) -> None:
        """Count the directory again, evict what is beyond the cap, and remove what dead processes left."""
        if self._lib is not None and self._handle is not None:
            self._usable(self._changing(self._lib.jitcache_trim, self._handle))

    def clear(self, kind: str | None = None) -> None:
        """Remove all entries, or those of one kind."""
        if self._lib is not None and self._handle is not None:
            name = None if kind is None else _ffi.as_text(kind, "kind")
            self._usable(self._changing(self._lib.jitcache_clear, self._handle, name))

    def verify(self) -> Verified:
        """Read every entry, remove the damaged ones, and return what was found.

        ``{"entries": n, "bytes": n, "bad": [{"path": …, "reason": …}], "removed": n}``
        """
        found: Verified | None = self._json("jitcache_verify")
        return found or {"entries": 0, "bytes": 0, "bad": [], "removed": 0}

    def entries(self, kind: str | None = None) -> Iterator[dict[str, Any]]:
        """Iterate over the descriptions of all entries in the directory, or of those of one kind.

        Each is a dict as ``jitcache ls --json`` prints it: ``{"key", "kind", "name",
        "size", "file_size", "created", "used", "compile_seconds", "owner", "path"}``,
        and ``"attributes"`` if there are any. ``Key.from_hex`` makes a key of ``"key"``.

        They come in the order of their keys and are read one at a time, so a million
        take no more memory than one. An entry that is stored or removed meanwhile may
        be included or not. Raises Error if the cache is closed meanwhile.
        """
        from ._listing import listed

        return listed(self._lib, self._handle, self._usable, kind)

    def count(self, kind: str | None = None) -> int:
        """Return the number of entries in the directory, or of those of one kind."""
        return len(self) if kind is None else sum(1 for _ in self.entries(kind))

    def stats(self) -> dict[str, Any]:
        """Return the counters of the directory as ``jitcache stats --json`` prints them, without the remotes.

        {} if there is no cache. ``"directory"`` is "" for a cache that is in memory only.
        """
        views = self._views
        if views is not None:
            views.start_over()
        return self._json("jitcache_stats") or {}

    def explain(self, key: Key) -> Explanation:
        """Return whether a key would hit, and what changed since the last entry of its name.

        ``{"key", "name", "hit", "reason", "last_key", "last_stored", "changed",
        "added", "removed"}``, without those that are empty. No counter changes.
        """
        checked_key(key)
        if self._lib is None:
            return {"key": key.hex, "name": key.name, "hit": False, "reason": "unavailable"}
        found: Explanation | None = self._json("jitcache_explain", key._handle_for(self._lib))
        return found or {"key": key.hex, "name": key.name, "hit": False, "reason": "closed"}

    def _json(self, function: str, *args: Any) -> Any:
        lib = self._lib
        if lib is None or self._handle is None:
            return None
        blob, call = _void_p(), getattr(lib, function)
        arguments = (self._handle, *args, _byref(blob))
        status = self._changing(call, *arguments) if function == "jitcache_verify" else call(*arguments)
        if not self._usable(status):
            return None
        import json

        from ._blob import blob_of

        return json.loads(bytes(blob_of(lib, blob).view()))

    def flush(self) -> None:
        """Write the counters of this process to the directory.

        This also happens on ``close``, at exit, and every ten seconds of use.
        """
        views = self._views
        if views is not None:
            views.start_over()
        if self._lib is not None and self._handle is not None:
            self._usable(self._lib.jitcache_flush(self._handle))

    def __len__(self) -> int:
        """Return the number of entries in the directory, which is listed for it."""
        if self._lib is None or self._handle is None:
            return 0
        n = ctypes.c_uint64()
        self._usable(self._lib.jitcache_count(self._handle, _byref(n)))
        return n.value

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys of the entries in the directory, with their names; ``entries`` says more of each.

        Such a key does not know its components, so its miss cannot be explained.
        """
        for entry in self.entries():
            yield Key.from_hex(entry["key"]).named(entry["name"])

    def __contains__(self, key: Key) -> bool:
        """Return whether a lookup would find the entry now. No counter changes."""
        return bool(self.explain(key)["hit"])

    def __bool__(self) -> bool:
        """Return True, also for an empty cache."""
        return True

    def __reduce__(self) -> tuple[Any, ...]:
        """Raise TypeError: a cache is open in one process, and cannot be pickled for another."""
        raise TypeError(f"a {type(self).__name__} cannot be pickled: open it in each process")
