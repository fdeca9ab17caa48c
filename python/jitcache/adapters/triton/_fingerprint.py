"""Triton's fingerprint of itself, computed once per installation and not once per process.

``triton_key()`` reads 500 MB, and every key begins with its answer. When it runs, the
files that it opens and the folders that it lists are recorded, and the answer is kept
with their time stamps. While these are unchanged, so is the answer.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Callable

from jitcache import Key
from jitcache._fork import ForkLock
from jitcache._location import machine
from jitcache._memoize.audit import HARMLESS
from jitcache._module_files import proves

if TYPE_CHECKING:
    from jitcache import Cache

#: The kind of the entry that has the answer.
KIND = "_triton-key"

# Audit events that look at nothing outside: those of imports, by which Triton's function finds the sources of modules.
# This is an allow-list: any other event counts.
_HARMLESS = frozenset(
    ("code.__new__", "compile", "exec", "import", "marshal.loads", "object.__getattr__", "sys._getframe")
)

# The modules that have the function, by version, the current one first.
_PLACES = ("triton.runtime.cache", "triton.compiler.compiler")

_Stamp = list[Any]  # path, device, inode, size, times

_original: Any = None
_ours: Any = None

_recording: dict[int, list[str]] = {}  # by thread, the paths that its call has looked at; "" for anything else
_listens = False
_lock = ForkLock()


def attach(cache: Callable[[], Cache]) -> bool:
    """Replace Triton's function by ours; return whether it is replaced."""
    global _original, _ours
    if _ours is not None:
        return True
    found = _find()
    if found is None:
        return False
    _original, computes = found

    @functools.lru_cache(maxsize=1)
    @functools.wraps(computes)
    def triton_key() -> str:
        return _remembered(cache(), computes)

    _ours = triton_key
    _exchange(_original, _ours)
    return True


def detach() -> None:
    """Put Triton's function back."""
    global _original, _ours
    if _ours is not None:
        _exchange(_ours, _original)
        _original = _ours = None


def _find() -> tuple[Any, Callable[[], str]] | None:
    """Return Triton's function, and the function without arguments that it wraps with functools.lru_cache."""
    for place in _PLACES:
        try:
            function: Any = getattr(importlib.import_module(place), "triton_key", None)
        except ImportError:
            continue
        computes: Any = getattr(function, "__wrapped__", None)
        code = getattr(computes, "__code__", None)
        if code is not None and code.co_argcount == code.co_kwonlyargcount == 0 and hasattr(function, "cache_info"):
            return function, computes
    return None


def _exchange(old: Any, new: Any) -> None:
    """Replace the old function in all modules of Triton, as Triton's own workers do that are told the value."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "triton" and getattr(module, "__dict__", {}).get("triton_key") is old:
            module.triton_key = new  # type: ignore[attr-defined]


def _remembered(cache: Cache, computes: Callable[[], str]) -> str:
    """Return the answer, from the cache if nothing from which it was computed has changed."""
    source = computes.__code__.co_filename
    # Inodes and times are valid on one machine only.
    key = Key({"triton fingerprint of": source}, machine=machine(), python=sys.version).named("triton_key")
    known = _known(cache.get(key, kind=KIND))
    if known is not None:
        return known
    started = time.time_ns()
    paths: list[str] = []
    before = _recorded(computes, paths)
    stamps = [_stamp(path) for path in dict.fromkeys(paths)]
    if all(stamp is not None and proves(stamp, started) for stamp in stamps) and stamps:
        cache.put(key, json.dumps([before, stamps]).encode(), kind=KIND, replace=True)
    return before


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
