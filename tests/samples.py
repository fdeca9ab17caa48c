"""Samples: the blocks between fences in the pages, for the tests that run them unchanged.

A test names its sample by constants: the page, the heading above and, if there are
several below the heading, the number. tests/package/test_samples.py reads these calls in
the tests' sources, and fails for a block that no call names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Sample(NamedTuple):
    """A block of a page."""

    page: str  # its path from the root of the project
    heading: str  # the nearest heading above
    number: int  # among the samples below that heading, from 0
    line: int  # of its first fence, from 1
    language: str  # "" if it has none
    title: str
    text: str


def of(page: str) -> list[Sample]:
    """Return all samples of a page, in order."""
    found: list[Sample] = []
    heading, begun, lines = "", None, []
    for at, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        fence = re.fullmatch(r'```(\w*)(?: title="([^"]+)")?', line)
        if begun is not None and line == "```":
            number = sum(s.heading == heading for s in found)
            found.append(Sample(page, heading, number, begun[0], begun[1], begun[2], "".join(lines)))
            begun = None
        elif begun is not None:
            lines.append(line + "\n")
        elif fence:
            begun, lines = (at, fence[1], fence[2] or ""), []
        elif line.startswith("#"):
            heading = line.lstrip("# ")
    assert begun is None, f"{page}: a fence is not closed"
    return found


def under(page: str, heading: str, number: int = 0) -> str:
    """Return the text of one sample."""
    return next(s.text for s in of(page) if (s.heading, s.number) == (heading, number))
