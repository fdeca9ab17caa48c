"""Graphs: what PyTorch keeps of FX graphs and of AOTAutograd, as its own pickles.

Under one key of PyTorch's there may be several candidates, which differ in their
guards. The first is entry 0 of the key, the next that is stored is entry 1. So
nothing is rewritten, no process loses another's, and a lookup reads one after the other.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from typing import TYPE_CHECKING, Any

from jitcache import Key

from . import KIND, _cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The most candidates of one key. A graph that is compiled more often has guards that no two processes share.
MOST = 64

#: Seconds to wait for another process that stores a candidate of the same key, which takes milliseconds.
_WAIT = 10.0

_Candidate = tuple[Any, bytes, bool]


def looking_up(original: Any) -> Any:
    """Return PyTorch's iteration over candidates, with those of the cache behind those of its own folder."""
    own: Callable[..., Iterator[_Candidate]] = original.__func__

    def iterate_over_candidates(cls: type, local: bool, remote_cache: Any, key: str) -> Iterator[_Candidate]:
        if not local:  # its caches on this machine are switched off
            yield from own(cls, local, remote_cache, key)
            return
        tried = set()
        for candidate in own(cls, local, None, key):
            tried.add(_digest(candidate[1]))
            yield candidate
        for graph, content in _candidates(cls, key, tried):
            yield graph, content, False
        if remote_cache:
            yield from own(cls, False, remote_cache, key)

    return classmethod(iterate_over_candidates)


def storing(cls: type, original: Any) -> Any:
    """Return PyTorch's function that writes a candidate into its folder; it is stored in the cache too."""
    own: Callable[[str, bytes], None] = original.__func__

    def _write_to_local_cache(key: str, content: bytes) -> None:
        own(key, content)
        try:
            _store(cls, key, content)
        except Exception as e:  # noqa: BLE001 - the program has its graph all the same
            _note(cls, key, e)

    return staticmethod(_write_to_local_cache)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _entry(cls: type, key: str, number: int) -> Key:
    return Key(torch=key, cache=cls.__name__, number=number).named(f"{cls.__name__} {key[:16]}")


def _candidates(cls: type, key: str, tried: set[bytes]) -> Iterator[tuple[Any, bytes]]:
    """Yield the candidates that are stored, but for those that were tried."""
    for number in range(MOST):
        try:
            content = _cache().get(_entry(cls, key, number), kind=KIND)
            if content is None:
                return
            graph = None if _digest(content) in tried else pickle.loads(content)  # noqa: S301 - as PyTorch does
        except Exception as e:  # noqa: BLE001 - a pickle that this process cannot read is no candidate
            _note(cls, key, e)
            continue
        if graph is not None:
            yield graph, content


def _store(cls: type, key: str, content: bytes) -> None:
    """Store a candidate under the first number that is free. The lease is short: no compile holds it."""
    cache = _cache()
    for number in range(MOST):
        with cache.acquire(_entry(cls, key, number), _WAIT, kind=KIND) as lease:
            if lease.data is None:
                if not lease.commit(content):
                    _cache.reasons[cache.last_reason or "not stored"] += 1
                return
            if lease.data == content:
                return
    _cache.reasons["too many candidates"] += 1


def _note(cls: type, key: str, e: Exception) -> None:
    _cache.reasons[type(e).__name__] += 1
    logging.getLogger("jitcache").info("torch: %s %s: %s: %s", cls.__name__, key[:16], type(e).__name__, e)
