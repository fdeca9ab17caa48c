"""What a call asks the system for, by Python's audit events."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from jitcache._fork import ForkLock

#: Events that tell a program nothing about the world outside. This is an allow-list: any other event counts.
HARMLESS = frozenset((
    "array.__new__", "builtins.id", "code.__new__", "compile", "exec", "function.__new__", "import", "marshal.dumps",
    "marshal.load", "marshal.loads", "object.__delattr__", "object.__getattr__", "object.__setattr__", "sys._getframe",
    "sys._getframemodulename",
))  # fmt: skip

_seen: dict[int, list[str] | None] = {}  # of threads that are in a call; None while the cache itself works
_lock = ForkLock()
_listens = False


def _on_event(event: str, args: tuple[Any, ...]) -> None:
    if not _seen or event in HARMLESS:
        return
    seen = _seen.get(threading.get_ident())
    if seen is None or len(seen) > 3:
        return
    if not _imports(sys._getframe(1)):
        seen.append(f"{event} {args[0]!r}"[:200] if args else event)


def _imports(frame: Any) -> bool:
    """Return whether Python imports something. The walks before and after the call describe modules."""
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back  # what reads a file, for whoever has it read one
    return False


class Watched:
    """Notes in ``seen`` what this thread asks the system for within ``with``."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __enter__(self) -> Watched:
        global _listens
        with _lock():
            if not _listens:
                _listens = True
                sys.addaudithook(_on_event)
        thread = threading.get_ident()
        self._outer = _seen.get(thread)
        _seen[thread] = self.seen
        return self

    def __exit__(self, *_: object) -> None:
        _leave(self._outer)
        if self._outer is not None:
            self._outer += self.seen


class Unwatched:
    """Within ``with`` this thread asks on behalf of the cache: nothing is noted."""

    def __enter__(self) -> None:
        thread = threading.get_ident()
        self._outer = _seen.get(thread)
        if self._outer is not None:
            _seen[thread] = None

    def __exit__(self, *_: object) -> None:
        if self._outer is not None:
            _leave(self._outer)


def _leave(outer: list[str] | None) -> None:
    if outer is None:
        _seen.pop(threading.get_ident(), None)
    else:
        _seen[threading.get_ident()] = outer


def _after_fork() -> None:
    own = threading.get_ident()
    for thread in [t for t in _seen if t != own]:
        del _seen[thread]


os.register_at_fork(after_in_child=_after_fork)
