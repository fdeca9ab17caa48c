"""Tasks: one compile among coroutines. A thread for each compile waits and holds the lease for them."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from contextlib import AbstractContextManager

    from ._key import Key
    from ._lease import Lease

    #: ``Cache._acquire``. Its arguments: key, timeout, kind, and a function that says that nobody waits any more.
    Acquire = Callable[[Key, "float | None", str, Callable[[], bool]], AbstractContextManager[Lease]]

# The compiles under way, by loop, cache and key. By loop, because a future belongs to one.
_running: dict[tuple[int, int, bytes], Shared] = {}

# The compile that a coroutine is part of.
_outer: contextvars.ContextVar[Shared | None] = contextvars.ContextVar("jitcache compile", default=None)

# How many compiles inside each other do not wait. A compile that asks for itself without
# end would start threads without end.
_DEEPEST = 100


class Ask(NamedTuple):
    """The arguments of ``Cache.aget_or_compile``, and what of the cache a compile needs."""

    cache: object  # coroutines share a compile if this is the same
    last_reason: Callable[[], str]  # Cache.last_reason, for the thread that calls it
    acquire: Acquire
    key: Key
    compile: Callable[[], Any]
    attributes: Mapping[str, Any] | None
    kind: str
    timeout: float | None


class Compiled(NamedTuple):
    """An entry's bytes, and why they were not stored: "" if they were, None after a hit."""

    data: bytes
    why: str | None


async def compiled(ask: Ask) -> Compiled:
    """Return the entry's bytes; compile them once, however many coroutines and processes ask."""
    where = (id(asyncio.get_running_loop()), id(ask.cache), ask.key._digest)
    shared, outer = _running.get(where), _outer.get()
    if outer is not None and shared is not None and shared.waits_for(outer):
        # Both would wait for ever. As a thread with a lease does, compile without waiting.
        shared = Shared(ask._replace(timeout=0), unshared=outer.unshared + 1)
    elif shared is None or shared.cancelled:
        mine = _running[where] = shared = Shared(ask, unshared=0 if outer is None else outer.unshared)
        shared.task.add_done_callback(lambda _: _running.pop(where) if _running.get(where) is mine else None)
    if outer is None:
        return await shared.result()
    outer.inner.append(shared)
    try:
        return await shared.result()
    finally:
        outer.inner.remove(shared)


class Shared:
    """One compile, for all coroutines that wait for it."""

    def __init__(self, ask: Ask, *, unshared: int) -> None:
        if unshared > _DEEPEST:
            raise RecursionError("compiles ask for each other without end")
        self.ask = ask
        #: How many of this and the compiles around it do not wait.
        self.unshared = unshared
        #: The compiles that this one waits for.
        self.inner: list[Shared] = []
        self._waiting = 0
        self.cancelled = False
        self.task = asyncio.ensure_future(self._run())

    def waits_for(self, other: Shared) -> bool:
        """Return whether this compile is the other one, or waits for it."""
        return self is other or any(shared.waits_for(other) for shared in self.inner)

    async def result(self) -> Compiled:
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1
            if self._waiting == 0 and not self.task.done():
                self.cancelled = True
                self.task.cancel()

    async def _run(self) -> Compiled:
        _outer.set(self)
        holder = _Holder(self.ask)
        try:
            found: Compiled | Awaitable[Any] = await holder.asked
            if isinstance(found, Compiled):
                return found
            holder.give(await found)  # the thread waits for it, and holds the lease
            return await holder.committed
        finally:
            holder.leave()


class _Holder:
    """A thread that waits for the lease, holds it, and ends with it.

    It is not from a pool: in a full pool, compiles that ask for further compiles would
    wait for threads for ever. It is a daemon thread, so that a program can end without
    it; the kernel then frees the lease.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()  # of the coroutine that asked first
        #: The result, or the awaitable that makes it while the thread holds the lease.
        self.asked: asyncio.Future[Compiled | Awaitable[Any]] = self._loop.create_future()
        self.committed: asyncio.Future[Compiled] = self._loop.create_future()
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
        ask = self._ask
        future: asyncio.Future[Any] = self.asked
        try:
            with ask.acquire(ask.key, ask.timeout, ask.kind, self._is_left) as lease:
                why = None
                if lease.data is None:
                    data = self._context.run(ask.compile)  # a coroutine function only makes its coroutine here
                    if inspect.isawaitable(data):
                        self._tell(self.asked, data)
                        future = self.committed
                        while not self._given.wait(1):
                            if self._loop.is_closed():  # it was closed without cancelling its tasks
                                return
                        if self._left:
                            return
                        data = self._data
                    lease.commit(data, attributes=ask.attributes)
                    why = ask.last_reason()
                assert lease.data is not None
                self._tell(future, Compiled(lease.data, why))
        except BaseException as e:  # noqa: BLE001 - the coroutine raises it
            self._tell(future, e)

    def _tell(self, future: asyncio.Future[Any], what: Any) -> None:
        if isinstance(what, StopIteration):  # a future refuses it
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
