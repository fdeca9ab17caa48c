"""Refusals: results that the cache hands out and does not keep. Its counters have the causes, its log the reasons.

A file that changes while a compiler runs is the usual cause: a package is installed, or a
header is edited. The next compile can be kept, so a job is tried again once.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import jitcache

_CHANGED = "input changed"  # the cause by which the cache counts it
# A line of the log about a refusal: the name of the key, the beginning of its digest, and the reason.
_LINE = re.compile(r"not stored: (.*) \([0-9a-f]{12}\): (.*)")


class Refused(NamedTuple):
    """What was refused during an attempt."""

    reasons: list[str]  # "saxpy.cu: /usr/include/math.h: changed during the run", each of them once
    changed: bool  # whether the only cause is that an input changed


def write_down(cache: str) -> None:
    """Let the caches of this process, and of those that it starts, write their refusals to the log beside a cache."""
    os.environ["JITCACHE_LOG"] = "miss"
    os.environ["JITCACHE_LOG_FILE"] = f"{cache}.log"


class Refusals:
    """What a cache refused to keep, in all processes that write it down."""

    def __init__(self, cache: str) -> None:
        self._cache, self._log = cache, Path(f"{cache}.log")
        self._log.unlink(missing_ok=True)
        self._lines = 0
        self._causes: Counter[str] = Counter()

    def new(self) -> Refused:
        """Return what was refused since the last call."""
        text = self._log.read_text(encoding="utf-8") if self._log.exists() else ""
        lines = _LINE.findall(text)
        with jitcache.Cache(self._cache) as cache:
            causes = Counter(cache.stats()["total"].get("not_stored_reasons", {}))
        reasons, new = [f"{name}: {why}" for name, why in lines[self._lines :]], causes - self._causes
        self._lines, self._causes = len(lines), causes
        return Refused(list(dict.fromkeys(reasons)), set(new) == {_CHANGED})
