"""The cache."""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import _local

from . import _ffi, _library
from ._compiling import Compiling
from ._key import checked_key
from ._maintenance import Maintained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType, TracebackType
    from typing import Any, Callable, TypeVar, overload

    from ._entry import Entry
    from ._key import Key
    from ._lease import Lease
    from ._view_tier import ViewTier

    T = TypeVar("T")
else:
    # Instead of typing's, which would have to be imported.
    def overload(function: Any) -> None:
        """Do nothing at run time."""


_byref = ctypes.byref
_void_p = ctypes.c_void_p


class Cache(Compiling, Maintained):
    """A compile cache: in this process's memory, and in a directory that all processes share.

    ``directory``: where entries are kept; default ``$JITCACHE_DIR``, else
    ``$XDG_CACHE_HOME/jitcache``, else ``~/.cache/jitcache``. ``max_size``: cap of
    the directory, in bytes or as text such as ``"5Gi"``, 0 for none; it is stored
    with the directory. ``memory_size``: cap of what this process keeps in memory, in
    the same form, 0 for nothing; default 256 MiB. ``durable``: fsync what is stored.
    ``shared``: trust everybody who may write the directory. ``readonly``: store nothing.

    The environment variable ``JITCACHE`` (``0``, ``readonly``, ``refresh``) overrides
    the arguments. Methods may be called from any thread, and in a forked child.

    A cache never fails the program. A lookup that fails is a miss, and ``last_miss``
    says why. A result that cannot be stored is still returned, and ``last_reason``
    says why. Raises Error for a bad argument, and TypeError for a key that is no Key.
    """

    _lookup: ModuleType  # set if there is a library

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        max_size: int | str | None = None,
        memory_size: int | str | None = None,
        durable: bool = False,
        shared: bool = False,
        readonly: bool = False,
    ) -> None:
        options: dict[str, str] = {}
        if directory is not None:
            options["directory"] = os.path.expanduser(os.fspath(directory))
        if max_size is not None:
            options["max_size"] = str(max_size)
        if memory_size is not None:
            options["memory_size"] = str(memory_size)
        for name, value in (("durable", durable), ("shared", shared), ("readonly", readonly)):
            if value:
                options[name] = "1"
        self._views: ViewTier | None = None
        self._closed = False
        self._why = ""  # why there is no cache, although there is a library
        self._stores = _local()  # for each thread: why its last store stored nothing
        self._handle: _void_p | None = None
        self._lib = _library.load()
        if self._lib is not None:
            self._open(self._lib, options)

    def _open(self, lib: _ffi.Library, options: Mapping[str, str]) -> None:
        # Everything that the cache's methods need is imported now: later the import may
        # fail, because the process has no descriptor left or the disk fails. Meanwhile
        # the library's runtime starts on another processor, which takes 1.5 ms.
        from . import (  # noqa: F401
            _detached_entry,
            _entry,
            _errors,
            _key,
            _key_format,
            _lease,
            _log,
            _lookup,
            _view_tier,
        )  # fmt: skip

        self._lookup = _lookup
        options_handle = _void_p()
        _ffi.check(lib, lib.jitcache_options_new(_byref(options_handle)))
        try:
            for name, value in options.items():
                _ffi.check(
                    lib, lib.jitcache_options_set(options_handle, name.encode(), _ffi.as_text(os.fsencode(value), name))
                )
            handle = _void_p()
            if self._usable(lib.jitcache_open(options_handle, _byref(handle))):
                self._handle = _ffi.as_argument(handle)
        finally:
            lib.jitcache_options_free(options_handle)
        if self._handle is None:
            self._why = self.last_miss
            return
        epoch = lib.jitcache_epoch(self._handle)
        if epoch:
            self._views = _view_tier.ViewTier(lib, self._handle, epoch)

    def _usable(self, status: int) -> bool:
        """Return whether this process has a cache, by a call's status. Raises Error for one that is an error."""
        if status in _ffi.NO_CACHE or (self._closed and status == _ffi.ERR_HANDLE):  # closed by another thread
            return False
        assert self._lib is not None
        _ffi.check(self._lib, status)
        return True

    # -- lookups

    @overload
    def get(self, key: Key, *, kind: str = "generic") -> bytes | None: ...
    @overload
    def get(self, key: Key, default: T, *, kind: str = "generic") -> bytes | T: ...  # noqa: F811
    def get(self, key: Key, default: Any = None, *, kind: str = "generic") -> Any:  # noqa: F811
        """Return the entry's bytes, or ``default`` if it is missing.

        A miss counts for ``kind``, as in ``put``. A hit counts for the kind of the entry.
        """
        views = self._views
        if views is not None:
            try:
                view = views.get(key)
            except AttributeError:
                checked_key(key)
                raise
            if view is None:
                view = self._view_from_library(views, key, None, kind)
            return default if view is None else view.tobytes()
        lib = self._lib
        if lib is None or self._handle is None:
            checked_key(key)
            return default
        found = self._lookup.read(lib, self._handle, checked_key(key)._handle_of(lib, kind))
        if isinstance(found, bytes):
            return found
        if found < 0:
            self._usable(found)
        return default

    @overload
    def view(self, key: Key) -> memoryview | None: ...
    @overload
    def view(self, key: Key, default: T) -> memoryview | T: ...  # noqa: F811
    def view(self, key: Key, default: Any = None) -> Any:  # noqa: F811
        """Return the entry's bytes as a read-only memoryview, without a copy; ``default`` if it is missing.

        The memory is valid as long as the view or a slice of it is referenced, also
        after ``close``.
        """
        views = self._views
        if views is not None:
            try:
                view = views.get(key)
            except AttributeError:
                checked_key(key)
                raise
            return self._view_from_library(views, key, default) if view is None else view
        lib, handle = self._lib, self._handle
        if lib is None or handle is None:
            checked_key(key)
            return default
        found = self._lookup.find_view(lib, handle, checked_key(key)._handle or key._handle_for(lib))
        if isinstance(found, int):
            if found < 0:
                self._usable(found)
            return default
        return found

    def _view_from_library(self, views: ViewTier, key: Key, default: Any, kind: str = "generic") -> Any:
        lib, handle = self._lib, self._handle
        if lib is None or handle is None:
            return default
        ticket = views.begin_lookup()
        status, blob = self._lookup.find(lib.jitcache_get_data, lib, handle, key._handle_of(lib, kind))
        if blob is None:
            if status < 0:
                self._usable(status)
            return default
        view = blob.view()
        views.keep(ticket, key, view, blob.kind())
        return view

    def entry(self, key: Key) -> Entry | None:
        """Return the Entry, which has the bytes, a path and attributes; None if it is missing."""
        checked_key(key)
        lib = self._lib
        if lib is None or self._handle is None:
            return None
        status, blob = self._lookup.find(lib.jitcache_get_data, lib, self._handle, key._handle_for(lib))
        if status < 0:
            self._usable(status)
        if blob is None:
            return None
        from ._entry import Entry

        return Entry(blob)

    @property
    def last_miss(self) -> str:
        """Why this thread's last lookup missed: "absent", "checksum", …; "" if it hit.

        "unavailable" without the library (``jitcache.available``), "closed" after
        ``close``.
        """
        if self._lib is None:
            return "unavailable"
        if self._handle is None and (self._closed or self._why):
            return "closed" if self._closed else self._why
        return str(self._lib.jitcache_reason_name(self._lib.jitcache_last_miss()).decode())

    @property
    def last_reason(self) -> str:
        """Why this thread's last ``put`` or commit stored nothing: "read-only", "too large", …; "" if it stored.

        A hit does not change it. A coroutine reads it right after ``await
        cache.aget_or_compile(…)``, before it awaits anything else.
        """
        return getattr(self._stores, "why", "")

    def _note_store(self, stored: bool, why: str | None = None) -> bool:
        """Remember why this thread's last store stored nothing, if it did not; return ``stored``."""
        if stored:
            self._stores.why = ""
        else:
            self._stores.why = self.last_miss if why is None else why
        return stored

    # -- storing

    def put(
        self,
        key: Key,
        data: Any,
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        replace: bool = False,
        seconds: float | None = None,
    ) -> bool:
        """Store bytes; return whether the entry is in the cache now. If not, ``last_reason`` says why.

        ``data`` is bytes or anything with the buffer protocol. ``attributes`` are
        returned with the entry; they must be representable in JSON. ``kind`` is the
        group in ``stats``, ``entries`` and ``clear``: 1 to 16 of a-z, 0-9, ``_``,
        ``-`` and ``.``. Entries whose kind begins with ``_`` are no results but what
        a caller notes for itself; the command leaves them out of its lists and counts.
        ``seconds`` is how long it took to compile a result for which there was no
        lease: ``stats`` counts the compile, and each hit as that time saved. An intact
        entry that is already there is kept, unless ``replace`` is set; other caches that
        have the old entry in memory go on returning it. Raises TypeError for data of
        another type.
        """
        from ._lease import as_bytes, as_json

        checked_key(key)
        payload = as_bytes(data)
        text = as_json(attributes)
        lib = self._lib
        if lib is None or self._handle is None:
            return self._note_store(False)
        key_handle = key._handle_for(lib, kind)
        flags = _ffi.REPLACE if replace else 0
        arguments: tuple[Any, ...] = (self._handle, key_handle, payload, len(payload), text, flags)
        store = lib.jitcache_put
        if seconds is not None:
            store, arguments = lib.jitcache_put_compiled, (*arguments, max(0, round(seconds * 1e9)))
        status = self._changing(store, *arguments) if replace else store(*arguments)
        views = self._views
        if views is not None:
            views.drop_stale()
        return self._note_store(self._usable(status) and status == _ffi.OK)

    def __getitem__(self, key: Key) -> bytes:
        """Return the entry's bytes. Raises KeyError if it is missing."""
        data = self.get(key)
        if data is None:
            raise KeyError(key)
        return data

    # -- one compile

    def acquire(self, key: Key, timeout: float | None = None, *, kind: str = "generic") -> Lease:
        """Look an entry up and, if it is missing, get the right to compile it.

        Waits while another thread or process compiles it: without ``timeout`` until
        that one is done, has died or has taken 30 minutes, else for at most
        ``timeout`` seconds; 0 does not wait. Who has waited in vain gets a lease that
        excludes nobody (``Lease.guarded`` is False). A thread that already holds a
        lease never waits, so coroutines of one loop do not wait for each other.
        Ctrl-C ends the wait.
        """
        return self._acquire(key, timeout, kind)

    def _acquire(self, key: Key, timeout: float | None, kind: str, unwanted: Callable[[], bool] | None = None) -> Lease:
        from ._lease import Lease, wait

        checked_key(key)
        lib = self._lib
        if lib is None or self._handle is None:
            return Lease(self, key, kind)
        views, ticket = self._views, None
        if views is not None:
            view = views.get(key)
            if view is not None:
                return Lease(self, key, kind, data=view.tobytes())
            ticket = views.begin_lookup()
        blob, lease, guarded = wait(self, lib, key._handle_for(lib, kind), timeout, unwanted)
        if blob is None:
            return Lease(self, key, kind, handle=lease, guarded=guarded)
        view = blob.view()
        if views is not None and ticket is not None:
            views.keep(ticket, key, view, blob.kind())
        return Lease(self, key, kind, data=view.tobytes(), blob=blob)

    def close(self) -> None:
        """Write the counters and close the cache. May be called more than once.

        Bytes, views and entries that were returned stay valid; every later lookup misses.
        """
        views, self._views = self._views, None
        if views is not None:
            views.close()
        self._closed = True
        handle, self._handle = self._handle, None
        if self._lib is not None and handle is not None:
            self._lib.jitcache_close(handle)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    # At the end of the interpreter modules may be empty already, also this one, and the library writes the counters
    # itself. So the function is bound now.
    def __del__(self, _ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if getattr(self, "_handle", None) is not None and not _ends():
            self.close()

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<jitcache.Cache, {self.last_miss}>"
        return f"<jitcache.Cache {self.stats().get('directory') or 'in memory'}>"
