"""File memos: the answer of a function that reads many files, computed once and not once per process.

When the function runs, the files that it opens and the folders that it lists are
recorded, and the answer is kept with their time stamps. While these are unchanged, so
is the answer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Callable

from jitcache._fork import ForkLock
from jitcache._memoize.audit import HARMLESS
from jitcache._module_files import proves

if TYPE_CHECKING:
    from jitcache import Cache, Key

_Stamp = list[Any]  # path, device, inode, size, times

_recording: dict[int, list[str]] = {}  # by thread, the paths that its call has looked at; "" for anything else
_listens = False
_lock = ForkLock()


def remembered(cache: Cache, key: Key, computes: Callable[[], str], kind: str) -> str:
    """Return the answer, from the cache if nothing from which it was computed has changed."""
    known = _known(cache.get(key, kind=kind))
    if known is not None:
        return known
    started = time.time_ns()
    paths: list[str] = []
    answer = _recorded(computes, paths)
    stamps = [_stamp(path) for path in dict.fromkeys(paths)]
    if all(stamp is not None and proves(stamp, started) for stamp in stamps) and stamps:
        cache.put(key, json.dumps([answer, stamps]).encode(), kind=kind, replace=True)
    return answer


def _known(data: bytes | None) -> str | None:
    """Return a stored answer if everything from which it was computed is unchanged."""
    if data is None:
        return None
    try:
        answer, stamps = json.loads(data)
        same = bool(stamps) and all(_stamp(stamp[0]) == stamp for stamp in stamps)
    except (TypeError, ValueError, KeyError, IndexError):
        return None
    return answer if same and isinstance(answer, str) else None


def _stamp(path: str) -> _Stamp | None:
    try:
        s = os.stat(path)
    except (OSError, ValueError):
        return None
    return [path, s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns]


def _recorded(computes: Callable[[], str], paths: list[str]) -> str:
    """Call a function, and add the paths that it opens and lists."""
    global _listens
    with _lock():
        if not _listens:
            _listens = True
            sys.addaudithook(_on_event)
    thread = threading.get_ident()
    _recording[thread] = paths
    try:
        return computes()
    finally:
        _recording.pop(thread, None)


def _on_event(event: str, args: tuple[Any, ...]) -> None:
    if not _recording or event in HARMLESS:
        return
    paths = _recording.get(threading.get_ident())
    # The reads of an import do not matter: the function opens the source of the module again, to read it.
    if paths is None or sys._getframe(1).f_code.co_filename.startswith("<frozen importlib"):
        return
    path = args[0] if args and event in ("open", "os.listdir", "os.scandir") else None
    # "" has no time stamp, so an answer that depends on more than files is not kept.
    paths.append(os.path.abspath(path) if isinstance(path, str) else "")


os.register_at_fork(after_in_child=_recording.clear)
