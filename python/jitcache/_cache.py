"""The cache."""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import _local

from . import _ffi, _library
from ._key import wanted
from ._maintenance import Maintained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from types import ModuleType, TracebackType
    from typing import Any, Callable, TypeVar, overload

    from ._entry import Entry
    from ._key import Key
    from ._lease import Lease
    from ._view_tier import ViewTier

    T = TypeVar("T")
else:
    # typing would be imported for it.
    def overload(function: Any) -> None:
        """Say nothing at run time."""


_byref = ctypes.byref
_void_p = ctypes.c_void_p


class Cache(Maintained):
    """A compile cache: in memory, then in a directory, shared by all processes.

    ``directory``: where entries are kept; default ``$JITCACHE_DIR``, else
    ``$XDG_CACHE_HOME/jitcache``, else ``~/.cache/jitcache``. ``max_size``: cap of
    the directory, bytes or text such as ``"5Gi"``, 0 for none; stored with the
    directory. ``memory_size``: cap of what this process keeps in memory, 0 for
    nothing. ``durable``: fsync what is stored. ``shared``: trust everybody who may
    write the directory. ``readonly``: store nothing.

    The environment variable ``JITCACHE`` (``0``, ``readonly``, ``refresh``) overrides
    the arguments. Methods may be called from any thread, and in a forked child.

    A cache never fails the program: what cannot be looked up is a miss, what
    cannot be stored is still returned, and ``last_reason`` says why. Raises Error
    for a bad argument.
    """

    _lookup: ModuleType  # read when there is a library

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
        self._why = ""  # there is no cache, although there is a library
        self._stores = _local()  # by thread: why the last store was none
        self._handle: _void_p | None = None
        self._lib = _library.load()
        if self._lib is not None:
            self._open(self._lib, options)

    def _open(self, lib: _ffi.Library, options: Mapping[str, str]) -> None:
        # While the library's runtime starts, for which another processor takes 1.5 ms:
        # all that the cache's methods need. Later a file may not be to be had, because
        # the process has no descriptor left or the disk fails.
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
                _ffi.check(lib, lib.jitcache_options_set(options_handle, name.encode(), os.fsencode(value)))
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
        """Check a status: True if there is a cache, False if there is none here."""
        if status in _ffi.NO_CACHE or (self._closed and status == _ffi.ERR_HANDLE):  # closed by another thread
            return False
        assert self._lib is not None
        _ffi.check(self._lib, status)
        return True

    # -- lookups

    @overload
    def get(self, key: Key) -> bytes | None: ...
    @overload
    def get(self, key: Key, default: T) -> bytes | T: ...  # noqa: F811
    def get(self, key: Key, default: Any = None) -> Any:  # noqa: F811
        """Return the entry's bytes, or ``default`` if it is missing."""
        views = self._views
        if views is not None:
            try:
                view = views.get(key)
            except AttributeError:
                wanted(key)
                raise
            if view is None:
                view = self._view_from_library(views, key, None)
            return default if view is None else view.tobytes()
        lib = self._lib
        if lib is None or self._handle is None:
            wanted(key)
            return default
        found = self._lookup.read(lib, self._handle, wanted(key)._handle or key._handle_for(lib))
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
        """Return the entry's bytes as a read-only memoryview, without a copy.

        The memory lives as long as the view, or a slice of it. ``default`` if the
        entry is missing.
        """
        views = self._views
        if views is not None:
            try:
                view = views.get(key)
            except AttributeError:
                wanted(key)
                raise
            return self._view_from_library(views, key, default) if view is None else view
        lib, handle = self._lib, self._handle
        if lib is None or handle is None:
            wanted(key)
            return default
        found = self._lookup.find_view(lib, handle, wanted(key)._handle or key._handle_for(lib))
        if isinstance(found, int):
            if found < 0:
                self._usable(found)
            return default
        return found

    def _view_from_library(self, views: ViewTier, key: Key, default: Any) -> Any:
        lib, handle = self._lib, self._handle
        if lib is None or handle is None:
            return default
        ticket = views.begin_lookup()
        status, blob = self._lookup.find(lib, handle, key._handle or key._handle_for(lib))
        if blob is None:
            if status < 0:
                self._usable(status)
            return default
        view = blob.view()
        views.keep(ticket, key, view, blob.kind())
        return view

    def entry(self, key: Key) -> Entry | None:
        """Return the entry, to use its bytes, path and attributes; None if missing."""
        wanted(key)
        lib = self._lib
        if lib is None or self._handle is None:
            return None
        status, blob = self._lookup.find(lib, self._handle, key._handle_for(lib))
        if status < 0:
            self._usable(status)
        if blob is None:
            return None
        from ._entry import Entry

        return Entry(blob)

    @property
    def last_miss(self) -> str:
        """Why this thread's last lookup missed: "absent", "checksum", …; "" if none did.

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
        """Why this thread's last ``put`` or commit stored nothing: "read-only", "too large", …; "" if it did.

        A hit stores nothing and does not change it. A coroutine must read it right
        after ``await cache.aget_or_compile(…)``.
        """
        return getattr(self._stores, "why", "")

    def _note_store(self, stored: bool, why: str | None = None) -> bool:
        """Note whether a store of this thread was one, and why not; return the first."""
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
    ) -> bool:
        """Store bytes; return whether the entry is there now (see ``last_reason``).

        A good entry that is there already is kept, unless ``replace`` is set.
        """
        from ._lease import as_bytes, as_json

        wanted(key)
        payload = as_bytes(data)
        text = as_json(attributes)
        lib = self._lib
        if lib is None or self._handle is None:
            return self._note_store(False)
        key_handle = key._handle_for(lib, kind)
        flags = _ffi.REPLACE if replace else 0
        arguments = (self._handle, key_handle, payload, len(payload), text, flags)
        status = self._changing(lib.jitcache_put, *arguments) if replace else lib.jitcache_put(*arguments)
        views = self._views
        if views is not None:
            views.let_go()
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

        It waits while somebody else compiles the entry, until they are done, have
        died or have taken 30 minutes. ``timeout`` bounds the wait in seconds, 0 does
        not wait; after it the caller gets a lease that locks nothing. A thread that
        holds a lease never waits, so coroutines of one loop do not wait for each
        other. Ctrl-C works.
        """
        return self._acquire(key, timeout, kind)

    def _acquire(self, key: Key, timeout: float | None, kind: str, unwanted: Callable[[], bool] | None = None) -> Lease:
        from ._lease import Lease, wait

        wanted(key)
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

    def get_or_compile(
        self,
        key: Key,
        fn: Callable[[], Any],
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        timeout: float | None = None,
    ) -> bytes:
        """Return the entry's bytes, compiling them with ``fn()`` if they are missing.

        However many threads and processes ask at once, one compiles (see
        ``acquire``). An exception of ``fn`` reaches the caller unchanged, and the
        next in line compiles.
        """
        views = self._views
        if views is not None:
            view = views.get(wanted(key))
            if view is not None:
                return view.tobytes()
        data = self._compiled(key, fn, attributes, kind, timeout).data
        assert data is not None
        return data

    async def aget_or_compile(
        self,
        key: Key,
        fn: Callable[[], Any] | Callable[[], Awaitable[Any]],
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        timeout: float | None = None,
    ) -> bytes:
        """As ``get_or_compile``, for coroutines: nothing blocks the loop, and ``fn`` may be a coroutine function.

        If several coroutines of a process ask for one key at once, one compiles.
        Other processes wait as always. A coroutine function runs in this loop. Any
        other function runs in a thread, in a copy of the caller's context, and has
        no loop there. An exception of ``fn`` reaches all that wait for it. If all of
        them are cancelled, the coroutine of ``fn`` is cancelled too, the wait ends,
        and the lease is given up. A thread cannot be stopped; its result is kept.
        """
        from ._tasks import Ask, compiled

        views = self._views
        if views is not None:
            view = views.get(wanted(key))
            if view is not None:
                return view.tobytes()
        data, why = await compiled(Ask(self, self._acquire, wanted(key), fn, attributes, kind, timeout))
        if why is not None:
            self._note_store(not why, why)
        return data

    def entry_or_compile(
        self,
        key: Key,
        fn: Callable[[], Any],
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        timeout: float | None = None,
    ) -> Entry:
        """As ``get_or_compile``, but return an Entry, for its ``path`` say.

        It returns one even if nothing could be stored.
        """
        return self._compiled(key, fn, attributes, kind, timeout).entry()

    def _compiled(
        self, key: Key, fn: Callable[[], Any], attributes: Mapping[str, Any] | None, kind: str, timeout: float | None
    ) -> Lease:
        """Return a lease that has ended, with its bytes."""
        with self.acquire(key, timeout, kind=kind) as lease:
            if lease.data is None:
                lease.commit(fn(), attributes=attributes)
            return lease

    def close(self) -> None:
        """Write the counters and give the cache up. May be called more than once.

        Bytes, views and entries stay valid; every lookup misses afterwards.
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

    # When the interpreter ends, modules are empty already, this one too; the library writes the counters by itself.
    def __del__(self, _ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if getattr(self, "_handle", None) is not None and not _ends():
            self.close()

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<jitcache.Cache, {self.last_miss}>"
        return f"<jitcache.Cache {self.stats().get('directory') or 'in memory'}>"
