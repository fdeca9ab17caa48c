"""One compile among the coroutines of a process: a thread for each, which waits and holds the lease for them."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from ._cache import Cache
    from ._key import Key

# The compiles under way, by loop, cache and key. Each loop has its own: a future belongs to one.
_running: dict[tuple[int, int, bytes], Shared] = {}


async def compiled(  # noqa: PLR0917
    cache: Cache,
    key: Key,
    fn: Callable[[], Any],
    attributes: Mapping[str, Any] | None,
    kind: str,
    timeout: float | None,
) -> bytes:
    """Return the entry's bytes, compiled once however many coroutines of this process and others ask."""
    loop = asyncio.get_running_loop()
    where = (id(loop), id(cache), key._digest)
    shared = _running.get(where)
    if shared is None or shared.cancelled:
        shared = Shared(cache, key, fn, attributes, kind, timeout)
        mine = _running[where] = shared
        shared.task.add_done_callback(lambda _: _running.pop(where) if _running.get(where) is mine else None)
    return await shared.result()


class Shared:
    """One compile, and how many coroutines wait for it."""

    def __init__(  # noqa: PLR0917
        self,
        cache: Cache,
        key: Key,
        fn: Callable[[], Any],
        attributes: Mapping[str, Any] | None,
        kind: str,
        timeout: float | None,
    ) -> None:
        self._cache, self._key, self._fn = cache, key, fn
        self._attributes, self._kind, self._timeout = attributes, kind, timeout
        self._waiting = 0
        self.cancelled = False
        self.task = asyncio.ensure_future(self._run())

    async def result(self) -> bytes:
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1
            if self._waiting == 0 and not self.task.done():
                self.cancelled = True
                self.task.cancel()

    async def _run(self) -> bytes:
        holder = _Holder(self)
        try:
            found: bytes | Awaitable[Any] = await holder.asked
            if isinstance(found, bytes):
                return found
            holder.give(await found)  # for which the thread waits, with the lease
            return await holder.committed
        finally:
            holder.leave()


class _Holder:
    """A thread that asks for the lease, holds it, and ends with it.

    It is not one of a pool: a compile that asks for another one would wait for a
    thread that never comes. It is a daemon, so that a program that ends does not wait
    for it; the kernel frees its lease then.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._loop = asyncio.get_running_loop()
        #: The bytes, or what is to be awaited for them while the thread has the lease.
        self.asked: asyncio.Future[bytes | Awaitable[Any]] = self._loop.create_future()
        self.committed: asyncio.Future[bytes] = self._loop.create_future()
        self._given = threading.Event()
        self._left = False
        self._data: Any = None
        threading.Thread(target=self._hold, name="jitcache-lease", daemon=True).start()

    def give(self, data: Any) -> None:
        """Let the thread commit a result."""
        self._data = data
        self._given.set()

    def leave(self) -> None:
        """Let the thread give up, wherever it is."""
        self._left = True
        self._given.set()

    def _is_left(self) -> bool:
        return self._left

    def _hold(self) -> None:
        shared = self._shared
        future: asyncio.Future[Any] = self.asked
        try:
            with shared._cache._acquire(shared._key, shared._timeout, shared._kind, self._is_left) as lease:
                if lease.data is None:
                    data = shared._fn()  # of a coroutine function: nothing has run yet
                    if inspect.isawaitable(data):
                        self._tell(self.asked, data)
                        future = self.committed
                        while not self._given.wait(1):
                            if self._loop.is_closed():  # without a word to its tasks
                                return
                        if self._left:
                            return
                        data = self._data
                    lease.commit(data, attributes=shared._attributes)
                self._tell(future, lease.data)
        except BaseException as e:  # noqa: BLE001 - it is the coroutine's
            self._tell(future, e)

    def _tell(self, future: asyncio.Future[Any], what: Any) -> None:
        if isinstance(what, StopIteration):  # which no future takes
            what = RuntimeError("the compile raised StopIteration")

        def tell() -> None:
            if not future.done():
                if isinstance(what, BaseException):
                    future.set_exception(what)
                else:
                    future.set_result(what)

        try:
            self._loop.call_soon_threadsafe(tell)
        except RuntimeError:  # the loop is closed: nobody waits
            return


def _after_fork() -> None:
    _running.clear()


os.register_at_fork(after_in_child=_after_fork)
