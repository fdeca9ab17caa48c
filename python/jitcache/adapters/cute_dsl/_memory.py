"""Memory: the results that a memoised function remembers. A trace gets these, not what the function would return now.

The wrapped function counts by value, like any other. A remembered result may come from
other values, of a global that was set since, say. So remembered results count too,
except those that were added while a trace of ours ran and nothing that the function
reaches changed: so a process that traces and one that hits have the same keys.

A function that cannot be seen completely, because it asks the device, say, counts by
its file and by all results that it remembers. Then a trace must not have run it.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache._remembered import remembered

if TYPE_CHECKING:
    from collections.abc import Callable


class Item(NamedTuple):
    """One remembered result: its key, made of arguments, the result, and both as bytes, because they may change."""

    key: Any
    result: Any
    described: bytes

    @property
    def identity(self) -> tuple[int, int]:
        """Identifies the item among all those that are kept."""
        return id(self.key), id(self.result)


class Memory(NamedTuple):
    """What a memoised function remembers at some time."""

    function: Any
    described: bytes | None  # the wrapped function, None if it cannot be seen completely
    runs: int  # how often the wrapped function has run
    items: dict[tuple[int, int], Item]

    @classmethod
    def of(cls, function: Any, described: bytes | None, describe: Callable[[Any, Any], bytes]) -> Memory:
        """Return what a function remembers now. Raises Unkeyable if that cannot be seen."""
        items = [Item(*pair, describe(*pair)) for pair in remembered(function)]
        return cls(function, described, function.cache_info().misses, {item.identity: item for item in items})

    def foreign(self, before: Memory | None = None) -> list[Item]:
        """Return the items that may come from values other than the present. Those newer than ``before`` do not."""
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


# By function, the items that came from the values described. They are kept, so that no other object gets their ids.
_known: weakref.WeakKeyDictionary[Any, Memory] = weakref.WeakKeyDictionary()


def learn(before: dict[int, Memory], after: dict[int, Memory]) -> bool:
    """Note which items were added to the memories of functions while nothing that they reach has changed.

    Both arguments are by the functions' ids. Returns False if a function has run that
    cannot be seen completely, or that was not met before.
    """
    for number, memory in after.items():
        old = before.get(number)
        if old is None or (memory.described is None and memory.runs != old.runs):
            return False
        foreign = {item.identity for item in memory.foreign(old)}
        own = {identity: item for identity, item in memory.items.items() if identity not in foreign}
        _known[memory.function] = memory._replace(items=own)
    return True
