"""Counts of results that are not kept, by reason."""

from __future__ import annotations

from collections import Counter

uncached: Counter[str] = Counter()


def refuse(reason: str, name: str, why: object = "") -> None:
    """Count a result that is not kept, and log it."""
    uncached[reason] += 1
    import logging  # seldom

    logging.getLogger("jitcache").info("triton: %s is not kept: %s", name, why or reason)
