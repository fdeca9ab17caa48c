"""Fork: what a forked child must not have of its parent.

Imported with the package, so it imports no more than has to be.
"""

from __future__ import annotations

import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

__all__ = ["ForkLock"]


class ForkLock:
    """A lock of a module: ``with _lock():``. A forked child has a new one, for another thread may hold the old one.

    Who forks while it holds the lock gives up the old one in both processes. Each is kept for ever.
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
