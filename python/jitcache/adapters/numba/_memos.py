"""Memos: the results that a memoised function has, for keys of what may ask for them.

What such a function returns was decided when it ran first: by a variable of the
environment, for example, that has another value now. A result that it had before the
present compile counts by value. A result that was made while a compile was watched
counts by what that compile looked at.
"""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ._code import Unkeyable

if TYPE_CHECKING:
    from ._seen import Seen

# By memo, the results that were made while a compile was watched, by argument, and what those compiles looked at.
_made: weakref.WeakKeyDictionary[Any, tuple[dict[Any, Any], list[Seen]]] = weakref.WeakKeyDictionary()


_LINK = "_lru_list_elem"  # the class of these links


class _Here(threading.local):
    def __init__(self) -> None:
        # The memos that the present compile may ask, with the results that they had before, and who may ask.
        self.asked: dict[Any, tuple[dict[Any, Any], list[Seen]]] = {}


_here = _Here()


def _results(memo: Any) -> dict[Any, Any]:
    """Return the results that a memo has, by argument. Python shows them to its garbage collector only.

    A memo with a bound shows arguments and results in turn, each pair before the class of
    its link, and then its own dictionary from arguments to links.
    """
    count = memo.cache_info().currsize
    held = [one for one in gc.get_referents(memo) if getattr(one, "__name__", "") != _LINK]
    if held[:1] == [type(memo)]:
        del held[0]
    linked = dict(zip(held[0 : 2 * count : 2], held[1 : 2 * count : 2])) if _is_bounded(memo) else {}
    own = next((one for one in held[2 * len(linked) :] if type(one) is dict and one is not memo.__dict__), None)
    found = linked or own
    if found is None or own is None or len(found) != count or found.keys() != own.keys():
        raise Unkeyable("memo", memo)
    return dict(found)


def _is_bounded(memo: Any) -> bool:
    return memo.cache_info().maxsize is not None


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
