"""Watching: whether Python code of others runs while Numba compiles, and whether a warning is given.

From Python 3.12 on, the interpreter's monitoring reports which code starts; for code of
Numba, NumPy and Python itself it is switched off at the first start. Before 3.12, a
profile function reports it. With that a compile takes twice as long, so it is set only
while Numba calls code of others.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import errors

from jitcache._fork import ForkLock

from ._code import is_quiet
from ._seen import current, here
from ._versioned import original as own_of
from ._versioned import put_instead
from ._warned import catching, giving, giving_at, showing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_lock = ForkLock()
_watching = 0  # how many compiles are watched
_monitoring = getattr(sys, "monitoring", None)
_tool: int | None = None

# -- what starts


def _starts(code: Any, _offset: int) -> Any:
    if is_quiet(code.co_filename):
        return _monitoring.DISABLE  # type: ignore[union-attr]
    seen = current()
    if seen is not None and not here.quiet:
        _quietly(seen.ran, sys._getframe(1))
    return None


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    here.quiet = True
    try:
        return function(*args)
    except Exception as e:  # noqa: BLE001 - a cache never fails the program
        here.open[-1].refuse("error", f"{type(e).__name__}: {e}")
        return None
    finally:
        here.quiet = False


def _start_monitoring() -> bool:
    """Turn monitoring on, with a tool id that nobody uses. Returns False if there is none."""
    global _tool
    if _monitoring is None:
        return False
    if _tool is None:
        for tool in (4, 3, 5, 2):
            if _monitoring.get_tool(tool) is None:
                _monitoring.use_tool_id(tool, "jitcache")
                _monitoring.register_callback(tool, _monitoring.events.PY_START, _starts)
                _tool = tool
                break
    if _tool is not None:
        _monitoring.set_events(_tool, _monitoring.events.PY_START)
    return _tool is not None


def _stop_monitoring() -> None:
    if _tool is not None and _monitoring is not None:
        _monitoring.set_events(_tool, 0)


def _profile(frame: Any, event: str, _arg: Any) -> None:
    if event != "call" or here.quiet:
        return
    code = frame.f_code
    if not is_quiet(code.co_filename):
        seen = current()
        if seen is not None:
            _quietly(seen.ran, frame)


def observed(function: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """Call code that is not Numba's, and note what runs."""
    if _tool is not None or not here.open:
        return function(*args, **more)
    before = sys.getprofile()
    if before is not None and before is not _profile:
        here.open[-1].refuse("profiler", "another one is set, so it cannot be seen what runs")
        return function(*args, **more)
    sys.setprofile(_profile)
    try:
        return function(*args, **more)
    finally:
        sys.setprofile(before)


@contextmanager
def unobserved() -> Iterator[None]:
    """Within the block, Numba runs without the profile function, though code of others has called it."""
    before = sys.getprofile()
    if before is not _profile:
        yield
        return
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)


# -- warnings


#: The functions that give and show warnings: object, attribute, and what makes the replacement that stands there during
#: a watch.
WARNINGS: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (warnings, "_showwarnmsg", showing),
    (errors.WarningsFixer, "catch_warnings", catching),
    (warnings, "warn", giving),
    (warnings, "warn_explicit", giving_at),
]


def _put_ours() -> None:
    for owner, name, make in WARNINGS:
        own = own_of(getattr(owner, name))  # ours may stand there: somebody may have kept it and put it back
        instead = make(own)
        put_instead(instead, own)
        setattr(owner, name, instead)


def _take_ours() -> None:
    """Put the originals back. A wrapper that others have put around ours stays; ours then only calls the original."""
    for owner, name, _ in WARNINGS:
        stands = getattr(owner, name, None)
        own = own_of(stands)
        if own is not stands:
            setattr(owner, name, own)


def _begin() -> None:
    global _watching
    with _lock():
        _watching += 1
        if _watching == 1:
            _start_monitoring()
            _put_ours()


def _end() -> None:
    global _watching
    with _lock():
        _watching -= 1
        if _watching == 0:
            _stop_monitoring()
            _take_ours()


@contextmanager
def watching() -> Iterator[None]:
    """Watch what Numba runs while it compiles in this thread."""
    if here.watching:
        yield
        return
    here.watching = True
    _begin()
    try:
        yield
    finally:
        _end()
        here.watching = False


def _after_fork() -> None:
    """Correct the number of watches in a child: it has only the thread that forked, in one watch or in none."""
    global _watching
    if _watching and not here.watching:
        _watching = 1
        _end()
    elif _watching:
        _watching = 1


os.register_at_fork(after_in_child=_after_fork)
