"""Turns: the right to compile, for as long as the function that compiles runs.

Triton does not tell when a compile has failed. Its frame ends, but the frame's objects
live on in the traceback of the exception, which a future keeps, say, or a program that
tries the next configuration. So a turn looks for the frame among those that run.
"""

from __future__ import annotations

import sys
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from jitcache import Lease

# The time between two looks, and so the longest time after a failure until the next in line compiles.
_SECONDS = 0.02


class Turn:
    """A lease that ends with a result, or when the frame that should make it ends."""

    def __init__(self, lease: Lease, frame: FrameType) -> None:
        self._lease: Lease | None = lease
        arguments = (weakref.ref(self), threading.get_ident(), id(frame))
        threading.Thread(target=_watch, args=arguments, name="jitcache-triton", daemon=True).start()

    def commit(self, data: bytes, attributes: Mapping[str, Any]) -> bool | None:
        """End with a result; return whether it is stored, None if the turn was over."""
        lease, self._lease = self._lease, None
        if lease is None:
            return None
        return lease.commit(data, attributes=attributes)

    def end(self) -> None:
        """End without a result. May be called more than once."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._lease is None


def _watch(turn: weakref.ref[Turn], thread: int, frame: int) -> None:
    """End a turn when its frame does not run any more.

    Only the frame holds the turn, through its manager. So while the turn lives, no other frame has that id.
    """
    while True:
        time.sleep(_SECONDS)
        held = turn()
        if held is None or held.over:
            return
        if not _runs(thread, frame):
            held.end()
            return
        del held


def _runs(thread: int, frame: int) -> bool:
    at = sys._current_frames().get(thread)
    while at is not None:
        if id(at) == frame:
            return True
        at = at.f_back
    return False
