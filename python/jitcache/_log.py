"""Warnings of the library, for Python's logger ``jitcache``."""

from __future__ import annotations

import atexit
import contextlib
from typing import Any

from . import _ffi

_callback: Any = None  # the library keeps calling it


def warn(text: str) -> None:
    """Log a warning. ``logging`` is imported only now: it takes longer than this package."""
    import logging

    logging.getLogger("jitcache").warning("%s", text)


def _on_line(_user: int, _level: int, text: bytes) -> None:
    with contextlib.suppress(Exception):  # a handler of the host's that raises must not reach C
        warn(text.decode("utf-8", "replace"))


def attach(lib: _ffi.Library) -> None:
    """Have the library's warnings logged until the interpreter ends."""
    global _callback
    _callback = _ffi.LOG_FN(_on_line)
    lib.jitcache_set_log(_callback, None)
    atexit.register(lib.jitcache_set_log, _ffi.LOG_FN(), None)
