"""Fork: locks that a forked child can take.

The package imports this module at once, so it imports little itself.
"""

from __future__ import annotations

import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

__all__ = ["ForkLock"]


class ForkLock:
    """A lock of a module, taken by ``with _lock():``. A forked child gets a new lock.

    At a fork another thread may hold the old lock, and no thread of the child would
    release it. A thread that forks inside the ``with`` releases the old lock in both
    processes. A ForkLock is never freed.
    """

    def __init__(self, make: Callable[[], Any] = _thread.allocate_lock) -> None:
        self._make = make
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = self._make()

    def __call__(self) -> Any:
        """Return the lock of this process."""
        return self._lock
