"""Warnings of the library, for Python's logger ``jitcache``."""

from __future__ import annotations

import _thread
import atexit

from . import _ffi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_callbacks: list[Any] = []  # kept alive: the library may call any of them


def warn(text: str) -> None:
    """Log a warning. ``logging`` is imported here: it takes longer than this package."""
    import logging

    logging.getLogger("jitcache").warning("%s", text)


def _on_line(_user: int, _level: int, text: bytes) -> None:
    try:  # noqa: SIM105  contextlib would have to be imported
        warn(text.decode("utf-8", "replace"))
    except Exception:  # noqa: BLE001, S110  an exception of a log handler must not reach C
        pass


def _is_main() -> bool:
    """Whether this is the main interpreter. Before Python 3.13 only the C interface tells."""
    told = getattr(_thread, "_is_main_interpreter", None)
    if told is not None:
        return bool(told())
    import ctypes

    api = getattr(ctypes, "pythonapi", None)  # PyPy has none, and no other interpreters
    if api is None:
        return True
    states = [api.PyInterpreterState_Get, api.PyInterpreterState_Main]
    for state in states:
        state.restype = ctypes.c_void_p
    return bool(states[0]() == states[1]())


def attach(lib: _ffi.Library) -> None:
    """Pass the library's warnings to ``logging`` until the interpreter ends.

    The process has one callback, and it runs in the main interpreter. So another
    interpreter, which may end first, leaves it alone. Where one is left over at the
    end of the process, a call into Python from there would end the main thread, and
    the process would wait for ever.
    """
    if not _is_main():
        return
    log_fn = _ffi.log_fn()
    callback = log_fn(_on_line)
    _callbacks.append(callback)
    lib.jitcache_set_log(callback, None)
    atexit.register(lib.jitcache_set_log, log_fn(), None)
