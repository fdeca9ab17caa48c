"""Results that are not kept: counted by reason, and logged."""

from __future__ import annotations

from . import _cache


def refuse(reason: str, name: str, why: object = "") -> None:
    """Count a result that is not kept, and log it."""
    _cache.reasons[reason] += 1
    import logging  # seldom

    logging.getLogger("jitcache").info("triton: %s is not kept: %s", name, why or reason)
