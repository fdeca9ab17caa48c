"""pytest's side of the choice: which rows of an area run.

tests/conftest.py has the hook. An area names in $JITCACHE_TEST_ROWS what it wants, as
JSON; without the variable all rows run.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Sequence
from typing import NamedTuple

VARIABLE = "JITCACHE_TEST_ROWS"

#: Tables with fewer rows are not divided: many are a test and its control.
FEW = 4


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())


def _table(name: str) -> str:
    """Return a test's name without its row."""
    return name.partition("[")[0]


class Wanted(NamedTuple):
    """Which rows an area runs."""

    #: Patterns of names of tests that are left to make test-all, with the number of rows of which a push runs one.
    later: dict[str, int] = {}
    #: "push", "rest" for what a push leaves, or "all".
    which: str = "all"
    #: Files whose rows all run, None for all files.
    whole: list[str] | None = None
    #: Of tables in other files this share runs, and what the tables are drawn by.
    share: float = 0.0
    seed: str = ""
    #: Part n of m of the tables, counted from 1.
    shard: tuple[int, int] = (1, 1)

    def text(self) -> str:
        """Return it as the variable has it."""
        return json.dumps(self._asdict())


def wanted() -> Wanted:
    """Read the variable."""
    return Wanted(**json.loads(os.environ.get(VARIABLE, "{}")))


def drawn(name: str, share: float, seed: str) -> bool:
    """Whether a table is one of the share that runs though no change has reached it."""
    return _hash(f"{seed} {name}") % 1000 < share * 1000


def fits(pattern: str, name: str) -> bool:
    """Whether a pattern, in which only * stands for other text, is about a name."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None


def _left_to_later(names: Sequence[str], later: dict[str, int]) -> set[str]:
    """Return the names that a push leaves to make test-all."""
    tables: dict[str, dict[str, list[str]]] = {}
    for name in names:
        # The last pattern that fits counts.
        pattern = next((p for p in reversed(later) if fits(p, name)), None)
        if pattern is not None:
            tables.setdefault(_table(name), {}).setdefault(pattern, []).append(name)
    left: set[str] = set()
    for patterns in tables.values():
        for pattern, rows in patterns.items():
            every = later[pattern]
            if every == 0:
                left.update(rows)
            elif len(rows) >= FEW:
                # By a hash of the name: every second of a table for two compilers would be one compiler's.
                left.update(sorted(rows, key=_hash)[-(-len(rows) // every) :])
    return left


def choose(names: Sequence[str], want: Wanted) -> list[bool]:
    """Return for each name of a test whether it runs."""
    left = _left_to_later(names, want.later) if want.later else set()
    n, of = want.shard
    return [
        (want.which == "all" or (name in left) == (want.which == "rest"))
        and (want.whole is None or name.partition("::")[0] in want.whole or drawn(_table(name), want.share, want.seed))
        and _hash(_table(name)) % of == n - 1
        for name in names
    ]
