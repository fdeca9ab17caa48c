"""Leases: the right to compile one key."""

from __future__ import annotations

import ctypes
import time

from . import _ffi
from ._blob import blob_of
from ._entry import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Callable, Protocol

    from ._blob import Blob
    from ._key import Key

    class Keeper(Protocol):
        """The cache, as far as a lease needs it."""

        _lib: _ffi.Library | None
        _handle: ctypes.c_void_p | None

        def _usable(self, status: int) -> bool: ...
        def _note_store(self, stored: bool) -> bool: ...
        def entry(self, key: Key) -> Entry | None: ...


_byref = ctypes.byref
_void_p = ctypes.c_void_p


class Lease:
    """What ``Cache.acquire`` returns: the entry, or the right to compile it.

    Use it in ``with``. On a hit ``data`` is the bytes. Otherwise it is None, and
    the caller compiles and calls ``commit``. If the block ends without a commit, the
    lease is released, and the next that waits compiles. A lease may be passed to
    another thread.

    ``hit``: the entry was there. ``guarded``: this is the only lease of its key; False
    after a hit, and after waiting in vain. ``stored``: ``commit`` has stored the
    result; if it has not, ``Cache.last_reason`` says why.
    """

    __slots__ = ("_attributes", "_blob", "_cache", "_handle", "_key", "_kind", "data", "guarded", "hit", "stored")

    def __init__(
        self,
        cache: Keeper,
        key: Key,
        kind: str,
        *,
        data: bytes | None = None,
        blob: Blob | None = None,
        handle: _void_p | None = None,
        guarded: bool = False,
    ) -> None:
        self._cache = cache
        self._key = key
        self._kind = kind
        self._blob = blob
        self._handle = handle
        self._attributes: Mapping[str, Any] | None = None
        self.data = data
        self.hit = data is not None
        self.guarded = guarded
        self.stored = False

    def commit(self, data: Any, *, attributes: Mapping[str, Any] | None = None) -> bool:
        """Store the result, end the lease, and return whether it was stored.

        ``data`` is bytes or anything with the buffer protocol; afterwards
        ``self.data`` has it, stored or not. Lookups return ``attributes`` with the
        entry; they must be representable in JSON. Raises ValueError after a hit or an
        earlier commit, TypeError for data of another type; the lease is then as before.
        """
        if self.hit:
            raise ValueError("the entry was in the cache: there is nothing to commit")
        if self.data is not None:
            raise ValueError("the lease was committed already")
        payload, text = as_bytes(data), as_json(attributes)
        handle, self._handle = self._handle, None
        self.data, self._attributes = payload, attributes
        self.stored, self._blob = commit(self._cache, handle, payload, text)
        return self._cache._note_store(self.stored)

    def entry(self) -> Entry:
        """Return the Entry that was found, or one of what was committed, stored or not.

        Raises ValueError on a miss before ``commit``.
        """
        if self.data is None:
            raise ValueError("nothing was committed yet")
        if self._blob is not None:
            return Entry(self._blob)
        entry = self._cache.entry(self._key) if self.hit else None
        if entry is not None:
            return entry
        from ._detached_entry import DetachedEntry

        return DetachedEntry(self.data, self._attributes, self._kind, self._key.name)

    def release(self) -> None:
        """Give the lease up: the next that waits compiles. Does nothing after ``commit`` or a first call."""
        handle, self._handle = self._handle, None
        lib = self._cache._lib
        if handle is not None and lib is not None:
            lib.jitcache_lease_free(handle)

    def __reduce__(self) -> tuple[Any, ...]:
        """Raise TypeError: a lease belongs to one process, and cannot be pickled or copied."""
        raise TypeError("a Lease cannot be pickled: acquire one in each process")

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


#: A longer timeout, in seconds, is none: 30 years, so that milliseconds fit into 64 bits.
FOREVER = 1e9


class Abandoned(Exception):
    """The caller does not want the lease any more."""


def wait(
    cache: Keeper, lib: _ffi.Library, key: _void_p, timeout: float | None, unwanted: Callable[[], bool] | None = None
) -> tuple[Blob | None, _void_p | None, bool]:
    """Return a key's entry or the handle of a lease, and whether the lease is the only one.

    Raises Abandoned if ``unwanted()`` returns True before either is there.
    """
    blob, lease = _void_p(), _void_p()
    end = None if timeout is None or timeout > FOREVER else time.monotonic() + timeout
    try:
        while True:
            left = -1 if end is None else max(0, -int((time.monotonic() - end) * 1000 // 1))
            # Returns after at most 100 ms, so that Python can run signal handlers.
            status = lib.jitcache_acquire(cache._handle, key, left, _byref(blob), _byref(lease))
            if status != _ffi.BUSY:
                break
            if unwanted is not None and unwanted():
                raise Abandoned
    except BaseException:
        # Ctrl-C may arrive right after the call: free what the call has returned.
        lib.jitcache_blob_release(blob)
        lib.jitcache_lease_free(lease)
        raise
    cache._usable(status)
    return blob_of(lib, blob) if blob.value else None, lease if lease.value else None, status == _ffi.LEASE


def commit(cache: Keeper, lease: _void_p | None, data: bytes, attributes: bytes | None) -> tuple[bool, Blob | None]:
    """End a lease with a result; return whether it is stored, and the result as a blob."""
    lib = cache._lib
    if lease is None or lib is None:
        return False, None
    blob = _void_p()
    status = lib.jitcache_commit(lease, data, len(data), attributes, _byref(blob))
    stored = cache._usable(status) and status == _ffi.OK
    return stored, blob_of(lib, blob) if blob.value else None


def as_bytes(data: Any) -> bytes:
    """Return data as bytes, without a copy if it is bytes already."""
    if isinstance(data, bytes):
        return data
    try:
        view = memoryview(data)
    except TypeError:
        hint = "; aget_or_compile takes coroutine functions" if hasattr(data, "__await__") else ""
        raise TypeError(f"want bytes, not {type(data).__qualname__}{hint}") from None
    return bytes(view)


def as_json(attributes: Mapping[str, Any] | None) -> bytes | None:
    """Return attributes as JSON text; None if there are none."""
    if attributes is None:
        return None
    import json

    return json.dumps(dict(attributes), separators=(",", ":")).encode()
