"""Remembered results: those of a function that ``functools.lru_cache`` has memoised, for keys of what may ask for them.

Python shows them to its garbage collector only. In order: the function's type (from
Python 3.10 on); if the number of results is bounded, argument and result of each link,
and (from 3.10 on) the link's type; the table, which holds the results itself if it is
not bounded, else links; and more.
"""

from __future__ import annotations

import gc
from typing import Any

from ._code import Unkeyable

_LINK = "_lru_list_elem"  # the name of the type of links


def remembered(function: Any) -> list[tuple[Any, Any]]:
    """Return arguments, as a key, and result of each call that a memoised function remembers.

    Raises Unkeyable if that cannot be seen.
    """
    info = function.cache_info()
    inside = gc.get_referents(function)
    if inside[:1] == [type(function)]:
        del inside[0]
    links: list[tuple[Any, Any]] = []
    if info.maxsize is not None:
        step = 3 if any(type(one) is type and one.__name__ == _LINK for one in inside[2:3]) else 2
        end = step * info.currsize
        links, inside = list(zip(inside[:end:step], inside[1:end:step])), inside[end:]
    table = next((one for one in inside if type(one) is dict and one is not function.__dict__), None)
    if table is None or len(table) != info.currsize or not all(argument in table for argument, _ in links):
        raise Unkeyable("memoised function", getattr(function, "__qualname__", ""))
    return links if info.maxsize is not None else list(table.items())
