"""Compiles: JAX's calls that look up, compile and store a program, with the leases that they hold."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from . import KIND, _cache
from ._key import key_of

if TYPE_CHECKING:
    from types import TracebackType

    from jitcache import Cache, Lease

_here = threading.local()


class Compile:
    """The leases of a call, which end when it returns or raises.

    JAX looks up an entry, and stores it later or not at all: the compile may fail, or
    the result may be below JAX's thresholds. Only the call around both knows when a
    lease is not needed any more.

    ``waits``: whether the call may wait for another process that compiles the same.
    ``why``: why nothing is looked up or stored, "" if it is.
    """

    def __init__(self, *, waits: bool, why: str = "") -> None:
        self.waits, self.why = waits, why
        self._leases: dict[str, Lease] = {}
        self._missed: tuple[str, float] | None = None
        self._found: dict[str, float] = {}  # entries that were found, and when: JAX compiles if it cannot use one

    def look_up(self, cache: Cache, name: str) -> bytes | None:
        """Return the entry. If there is none, take the lease for compiling it, and return None."""
        if self.why or name in self._leases:
            return None
        key = key_of(name)
        if key is None:
            return None
        lease = cache.acquire(key, None if self.waits else 0, kind=KIND)
        if lease.hit:
            self._found[name] = time.monotonic()
            return lease.data
        self._leases[name] = lease
        self._missed = (name, time.monotonic())
        return None

    def store(self, cache: Cache, name: str, data: bytes) -> None:
        """Store an entry; it replaces one that was found and that JAX could not use."""
        lease = self._leases.pop(name, None)
        if self.why:
            _cache.reasons[self.why] += 1
        elif lease is None:
            began = self._found.get(name)
            put(cache, name, data, None if began is None else time.monotonic() - began)
        elif not lease.commit(data):
            _cache.reasons[cache.last_reason or "not stored"] += 1

    def unstored(self) -> tuple[str, int] | None:
        """Return the name of what was compiled and not stored, and the seconds since it was looked up."""
        if self._missed is None or self._missed[0] not in self._leases:
            return None
        name, began = self._missed
        return name, int(time.monotonic() - began)

    def __enter__(self) -> Compile:
        self._outer = current()
        _here.compile = self
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        _here.compile = self._outer
        if kind is None and self._leases:
            _cache.reasons["not stored by jax"] += 1  # by its settings, or because another process stores it
        for lease in self._leases.values():
            lease.release()
        self._leases.clear()


def current() -> Compile | None:
    """Return the call that this thread is in, None if it is in none."""
    return getattr(_here, "compile", None)


def get(cache: Cache, name: str) -> bytes | None:
    """Return an entry outside of any call."""
    key = key_of(name)
    return None if key is None else cache.get(key, kind=KIND)


def put(cache: Cache, name: str, data: bytes, seconds: float | None = None) -> None:
    """Store an entry outside of any call, or replace one that was found. ``seconds``: how long the compile took."""
    key = key_of(name)
    if key is None:
        _cache.reasons["cpu not known"] += 1
    elif not cache.put(key, data, kind=KIND, replace=True, seconds=seconds):
        _cache.reasons[cache.last_reason or "not stored"] += 1


def complete(compile_: Compile, executable: Any, backend: Any) -> None:
    """Store what a call has compiled, if JAX leaves that to another process.

    In JAX only the first process of a job stores. But the entry is the same whichever
    process compiles it, and the others wait for it.
    """
    left = compile_.unstored()
    if left is None:
        return
    from jax._src import compilation_cache, config, distributed

    name, seconds = left
    if distributed.global_state.process_id == 0 or seconds < config.persistent_cache_min_compile_time_secs.value:
        return
    try:
        compilation_cache.put_executable_and_time(name, name.rpartition("-")[0], executable, backend, seconds)
    except Exception as e:  # noqa: BLE001 - the program has its executable all the same
        logging.getLogger("jitcache").warning("jax: %s: not stored: %s: %s", name, type(e).__name__, e)
