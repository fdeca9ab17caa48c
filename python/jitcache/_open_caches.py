"""The caches that are open: what the end of the process and a fork mean for them."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._cache import Cache

open_caches: weakref.WeakSet[Cache] = weakref.WeakSet()


def _report_all() -> None:
    for cache in list(open_caches):
        views = cache._views
        if views is not None:
            views.start_over()


def _after_fork() -> None:
    for cache in list(open_caches):
        views = cache._views
        if views is not None:
            views.forget()


atexit.register(_report_all)
os.register_at_fork(after_in_child=_after_fork)
