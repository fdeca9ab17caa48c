"""Memory: what a memoised function remembers, which a trace is given instead of what the function would say by now.

Its function counts by value, like any other. What it remembers may have come of
other values, of a global that was set since, say. So that counts too, but for what
it came to remember while a trace of ours ran and nothing that it reaches changed:
a process that traces and one that hits have the same keys.

A function of which not all can be seen, because it asks the device, say, counts by
its file and by all that it remembers. Then a trace must not have run it.
"""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache._code import Unkeyable

if TYPE_CHECKING:
    from collections.abc import Callable


class Item(NamedTuple):
    """What is remembered: a key that is made of arguments, and the result; both as bytes, because they may change."""

    key: Any
    result: Any
    described: bytes

    @property
    def identity(self) -> tuple[int, int]:
        """What it has in common with no other that is kept."""
        return id(self.key), id(self.result)


class Memory(NamedTuple):
    """What a memoised function remembers at some time."""

    function: Any
    described: bytes | None  # what it is around, None if not all of that can be seen
    runs: int  # of what it is around
    items: dict[tuple[int, int], Item]

    @classmethod
    def of(cls, function: Any, described: bytes | None, describe: Callable[[Any, Any], bytes]) -> Memory:
        """Return what a function remembers now. Raises Unkeyable where that cannot be seen."""
        info = function.cache_info()
        # What the garbage collector sees of it: its type; key, result and the type of a link in turn if it is
        # bounded; the table, which has the results if it is not; and more.
        inside = gc.get_referents(function)
        links = inside[1 : 1 + 3 * info.currsize] if info.maxsize is not None else []
        table = inside[1 + len(links)] if len(inside) > 1 + len(links) else None
        if type(table) is not dict or len(table) != info.currsize:
            raise Unkeyable("memoised function", function.__qualname__)
        pairs = list(zip(links[::3], links[1::3]) if links else table.items())
        if any(key not in table for key, _ in pairs):
            raise Unkeyable("memoised function", function.__qualname__)
        items = [Item(*pair, describe(*pair)) for pair in pairs]
        return cls(function, described, info.misses, {item.identity: item for item in items})

    def foreign(self, before: Memory | None = None) -> list[Item]:
        """Return what may have come of other values than are here now. What has come since ``before`` has not."""
        if self.described is None:
            return list(self.items.values())
        known = _known.get(self.function)
        own = known.items if known is not None and known.described == self.described else {}
        return [
            item
            for identity, item in self.items.items()
            if (before is None or identity in before.items)
            and (identity not in own or own[identity].described != item.described)
        ]


# What came of the values that are described, by function. Items are kept, so that an identity is that of one object.
_known: weakref.WeakKeyDictionary[Any, Memory] = weakref.WeakKeyDictionary()


def learn(before: dict[int, Memory], after: dict[int, Memory]) -> bool:
    """Note what functions have come to remember while nothing that they reach has changed.

    Return False if one has run of which not all can be seen. Functions are by their ids.
    """
    for number, memory in after.items():
        old = before.get(number)
        if old is None or (memory.described is None and memory.runs != old.runs):
            return False
        foreign = {item.identity for item in memory.foreign(old)}
        own = {identity: item for identity, item in memory.items.items() if identity not in foreign}
        _known[memory.function] = memory._replace(items=own)
    return True
