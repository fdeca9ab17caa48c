"""Verification: results that are kept by their source, compared with what Numba makes now.

While it is on, a hit is compiled as well, and the compiled function is used. Each entry has digests of
what LLVM was given. If those of the compile differ, the key lacks something.
"""

from __future__ import annotations

import atexit
import logging
import sys
from typing import TYPE_CHECKING, Any

from ._ir_library import digests_of

if TYPE_CHECKING:
    from jitcache import Cache, Key

#: The attribute of an entry that has the digests.
ATTRIBUTE = "given to LLVM"


class Verification:
    """What was compared in this process."""

    def __init__(self) -> None:
        self.on = False
        self.same: list[str] = []
        self.different: list[str] = []  # names of results, and what differs
        self.unknown: list[str] = []  # a recursive function, for example, has no digests

    def begin(self) -> None:
        """Compare from now on, and say at the end of the process how much was compared."""
        if not self.on:
            atexit.register(self.tell)
        self.on = True

    def compare(self, name: str, kept: list[str] | None, library: Any) -> bool:
        """Compare a kept result with the library of a compile. Return whether they are the same."""
        now = digests_of(library)
        if kept is None or now is None:
            self.unknown.append(name)
            return False
        if kept == now:
            self.same.append(name)
            return True
        what = ", ".join(_parts(kept, now, library))
        self.different.append(f"{name}: {what}")
        logging.getLogger("jitcache").warning("numba: what was kept of %s is not what Numba makes now: %s", name, what)
        return False

    def told(self) -> str:
        """Return how much was compared."""
        return f"{len(self.same)} results are as kept, {len(self.different)} differ, {len(self.unknown)} not compared"

    def tell(self) -> None:
        """Print how much was compared, if anything was."""
        if self.same or self.different or self.unknown:
            print(f"jitcache: numba: {self.told()}", file=sys.stderr)  # noqa: T201 - the user has asked for it


verification = Verification()


def kept_digests(cache: Cache, key: Key) -> list[str] | None:
    """Return the digests in an entry, None if it has none."""
    entry = cache.entry(key)
    found = None if entry is None else (entry.attributes or {}).get(ATTRIBUTE)
    return found if isinstance(found, list) else None


def _parts(kept: list[str], now: list[str], library: Any) -> list[str]:
    """Return what differs, in words."""
    linked = [one.name for one in dict.fromkeys(library._linking_libraries)]
    names = ["the settings", "its own code", *(f"the code of {name}" for name in linked)]
    if len(kept) != len(now):
        return ["how many functions it calls", *_parts(kept[:2], now[:2], library)]
    return [name for name, one, other in zip(names, kept, now) if one != other]
