"""Turns: the right to compile, for as long as the function that compiles runs.

Triton does not say when a compile has failed: its frame ends, and who keeps the
exception keeps the frame, and with it all that is in it. A future does, and so
does whoever tries the next configuration. So a turn looks for the frame among
those that run.
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

# How often it looks: so much later than the failure the next in line compiles.
_SECONDS = 0.02


class Turn:
    """A lease that ends with a result, or with the frame that would have made it."""

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
    """End a turn when its frame runs no more.

    As long as somebody has the turn he has the frame, so no other frame is known by the same number.
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
