"""Compiling: one compile of a missing entry, however many ask for it."""

from __future__ import annotations

from ._key import checked_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from typing import Any, Callable

    from ._entry import Entry
    from ._key import Key
    from ._lease import Lease
    from ._view_tier import ViewTier


def _either(compile: Callable[[], Any] | None, fn: Callable[[], Any] | None) -> Callable[[], Any]:  # noqa: A002
    """Return the one of two names of an argument that was given."""
    if compile is not None and fn is not None:
        raise TypeError("compile and fn are two names of one argument")
    if compile is None:
        compile = fn  # noqa: A001
    if compile is None:
        raise TypeError("missing the argument 'compile', a function")
    return compile


class Compiling:
    """The part of ``Cache`` that calls a function for what is missing."""

    _views: ViewTier | None

    @property
    def last_reason(self) -> str:
        """Why this thread's last result was not stored."""
        raise NotImplementedError

    def acquire(self, key: Key, timeout: float | None = None, *, kind: str = "generic") -> Lease:
        """Look an entry up and, if it is missing, get the right to compile it."""
        raise NotImplementedError

    def _acquire(self, key: Key, timeout: float | None, kind: str, unwanted: Callable[[], bool] | None = None) -> Lease:
        raise NotImplementedError

    def _note_store(self, stored: bool, why: str | None = None) -> bool:
        raise NotImplementedError

    def get_or_compile(
        self,
        key: Key,
        compile: Callable[[], Any] | None = None,  # noqa: A002
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        timeout: float | None = None,
        fn: Callable[[], Any] | None = None,
    ) -> bytes:
        """Return the entry's bytes, compiling them with ``compile()`` if they are missing.

        ``compile`` returns bytes or anything with the buffer protocol. However many
        threads and processes ask at once, one compiles, and the others wait as in
        ``acquire``; ``timeout`` is in seconds. An exception of ``compile`` reaches its
        caller unchanged, and the next in line compiles. ``attributes`` and ``kind``
        are those of ``put``. ``fn`` is an older name of ``compile``.
        """
        if compile is None or fn is not None:
            compile = _either(compile, fn)  # noqa: A001
        views = self._views
        if views is not None:
            try:
                view = views.get(key)
            except AttributeError:
                checked_key(key)
                raise
            if view is not None:
                return view.tobytes()
        data = self._compiled(key, compile, attributes, kind, timeout).data
        assert data is not None
        return data

    async def aget_or_compile(
        self,
        key: Key,
        compile: Callable[[], Any] | Callable[[], Awaitable[Any]] | None = None,  # noqa: A002
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        timeout: float | None = None,
        fn: Callable[[], Any] | Callable[[], Awaitable[Any]] | None = None,
    ) -> bytes:
        """As ``get_or_compile``, for coroutines: nothing blocks the loop, and ``compile`` may be a coroutine function.

        Of the coroutines of a process that ask for one key at once, one compiles;
        other processes wait as always. A coroutine function runs in this loop. Any
        other function runs in a thread without a loop, in a copy of the caller's
        context. An exception of ``compile`` reaches every coroutine that waits for it.
        If all of them are cancelled, the wait ends and the lease is given up: a
        coroutine is cancelled too, while a thread cannot be stopped, and its result
        is still stored. ``compile`` may ask for other keys; where two compiles of this loop
        would wait for each other, one compiles without waiting.
        """
        from ._tasks import Ask, compiled

        if compile is None or fn is not None:
            compile = _either(compile, fn)  # noqa: A001
        views = self._views
        if views is not None:
            view = views.get(checked_key(key))
            if view is not None:
                return view.tobytes()
        data, why = await compiled(
            Ask(self, lambda: self.last_reason, self._acquire, checked_key(key), compile, attributes, kind, timeout)
        )
        if why is not None:
            self._note_store(not why, why)
        return data

    def entry_or_compile(
        self,
        key: Key,
        compile: Callable[[], Any] | None = None,  # noqa: A002
        *,
        attributes: Mapping[str, Any] | None = None,
        kind: str = "generic",
        timeout: float | None = None,
        fn: Callable[[], Any] | None = None,
    ) -> Entry:
        """As ``get_or_compile``, but return an Entry, for example to use its ``path``.

        It returns an Entry even if nothing could be stored.
        """
        if compile is None or fn is not None:
            compile = _either(compile, fn)  # noqa: A001
        return self._compiled(key, compile, attributes, kind, timeout).entry()

    def _compiled(
        self, key: Key, fn: Callable[[], Any], attributes: Mapping[str, Any] | None, kind: str, timeout: float | None
    ) -> Lease:
        """Look up or compile; return the lease, which has ended and has the bytes."""
        with self.acquire(key, timeout, kind=kind) as lease:
            if lease.data is None:
                lease.commit(fn(), attributes=attributes)
            return lease
