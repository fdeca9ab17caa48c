"""Check which tests are skipped, by name. Tests that are not on the list must run.

JITCACHE_TEST_SKIPS names an environment of tests/skips.txt. Every test that is skipped
in that environment must be on its list, and every line of the list must skip a test. A
test that silently stopped running is a defect, and so is a reason that no longer holds.
Without the variable any test may be skipped, as on a developer's machine.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).resolve().parent.parent / "skips.txt"

#: The tests that each area has skipped in this run.
NAMES: dict[str, list[str]] = {}

#: The areas that run a part of each table. A line about a row of another part skips nothing there.
PARTS: set[str] = set()

#: The areas of which some tests run. No line has to skip anything there.
SOME: set[str] = set()


class Row(NamedTuple):
    """A line of the list."""

    environments: list[str]
    areas: list[str]
    pattern: str
    reason: str

    def fits(self, name: str) -> bool:
        """Whether the line is about a test. In its pattern only * stands for other text."""
        return re.fullmatch(re.escape(self.pattern).replace(r"\*", ".*"), name) is not None


def rows() -> list[Row]:
    """Read the list."""
    found = []
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            environments, areas, pattern, reason = line.split(None, 3)
            found.append(Row(environments.split(","), areas.split(","), pattern, reason))
    return found


def note(area: str, *names: str) -> int:
    """Keep the names of tests that an area has skipped, and return their number."""
    NAMES.setdefault(area, []).extend(names)
    return len(names)


def _list_of(environment: str, area: str) -> list[Row]:
    return [row for row in rows() if environment in row.environments and area in row.areas]


def left_out() -> dict[str, str]:
    """Return the areas that the environment leaves out, with the reasons. Their lines have the pattern *."""
    environment = os.environ.get("JITCACHE_TEST_SKIPS")
    found = [row for row in rows() if row.pattern == "*" and environment in row.environments]
    return {area: row.reason for row in found for area in row.areas}


def expected(area: str) -> int:
    """Count the tests that an area has skipped as the list says. Without an environment, count all that it has skipped."""
    environment = os.environ.get("JITCACHE_TEST_SKIPS")
    if not environment:
        return len(NAMES.get(area, []))
    own = _list_of(environment, area)
    return sum(any(row.fits(name) for row in own) for name in NAMES.get(area, []))


def problems(area: str, skipped: int) -> list[str]:
    """Return what is wrong with the skips of an area in the environment."""
    environment = os.environ.get("JITCACHE_TEST_SKIPS")
    if not environment:
        return []
    names, own = NAMES.get(area, []), _list_of(environment, area)
    wrong = [f"{name} was skipped" for name in names if not any(row.fits(name) for row in own)]
    whole = [row for row in own if area not in SOME and (area not in PARTS or "[" not in row.pattern)]
    wrong += [f"nothing was skipped by {row.pattern}" for row in whole if not any(row.fits(n) for n in names)]
    if skipped != len(names):
        wrong.append(f"{skipped} were skipped, and {len(names)} names are known")
    return wrong
