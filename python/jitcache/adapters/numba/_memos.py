"""Memos: the results that a memoised function has, for keys of what may ask for them.

What such a function returns was decided when it ran first: by a variable of the
environment, for example, that has another value now. A result that it had before the
present compile counts by value. A result that was made while a compile was watched
counts by what that compile looked at.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from jitcache._remembered import remembered

if TYPE_CHECKING:
    from ._seen import Seen

# By memo, the results that were made while a compile was watched, by argument, and what those compiles looked at.
_made: weakref.WeakKeyDictionary[Any, tuple[dict[Any, Any], list[Seen]]] = weakref.WeakKeyDictionary()


class _Here(threading.local):
    def __init__(self) -> None:
        # The memos that the present compile may ask, with the results that they had before, and who may ask.
        self.asked: dict[Any, tuple[dict[Any, Any], list[Seen]]] = {}


_here = _Here()


def _results(memo: Any) -> dict[Any, Any]:
    return dict(remembered(memo))


def before(memo: Any) -> list[tuple[Any, Any]]:
    """Return arguments and results of those calls that were made before, and not while a compile was watched."""
    now = _here.asked[memo][0] if memo in _here.asked else _results(memo)
    made = _made[memo][0] if memo in _made else {}
    return [(argument, result) for argument, result in now.items() if made.get(argument, ...) is not result]


def ask(memo: Any, seen: Seen) -> None:
    """Note that a compile may ask a memo; add what was looked at to make the results that it has."""
    if memo not in _here.asked:
        _here.asked[memo] = _results(memo), []
    _here.asked[memo][1].append(seen)
    for other in _made[memo][1] if memo in _made else ():
        if other is not seen:
            seen.add(other)


def end() -> None:
    """Note which results were made during the compile that ends now."""
    asked, _here.asked = _here.asked, {}
    for memo, (had, seen) in asked.items():
        new = {argument: result for argument, result in _results(memo).items() if had.get(argument, ...) is not result}
        if new:
            results, lookers = _made.setdefault(memo, ({}, []))
            results.update(new)
            lookers += [one for one in seen if one not in lookers]
