"""Whether the bounds are kept.

A ratio is that of two contenders in the same round, and the median of those
over all rounds: what disturbs a shared machine lasts longer than a round, so it
falls on both sides of a ratio and not on one. The ratio of the two minima is
reported beside it; where the two differ much the run was disturbed.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bounds import Bound

# Missed by more than this, a bound fails the run: below it is noise.
TOLERANCE = 1.2


def summarise(samples: list[float]) -> dict[str, float]:
    """Return what is kept of the rounds of a contender."""
    return {
        "min": min(samples), "median": statistics.median(samples),
        "mean": statistics.fmean(samples), "max": max(samples), "rounds": len(samples),
    }  # fmt: skip


def ratios(samples: dict[str, list[float]], above: str, below: str) -> dict[str, float]:
    """Return the ratio of two contenders of a series."""
    a, b = samples[above], samples[below]
    each = [x / y for x, y in zip(a, b)]
    return {
        "ratio": statistics.median(each),
        "ratio_of_minima": min(a) / min(b),
        "ratio_of_means": statistics.fmean(a) / statistics.fmean(b),
    }


def beyond(samples: list[float], base: list[float]) -> list[float]:
    """Return by how much a contender takes longer than what it contains, round by round; the least by their minima."""
    each = [x - y for x, y in zip(samples, base)]
    # A disturbed base makes a round look like nothing.
    least = min(samples) - min(base)
    return [max(x, least) for x in each]


def value_of(bound: Bound, raw: dict[str, dict[str, dict[str, list[float]]]]) -> dict[str, float] | None:
    """Return what a bound is about, from the raw samples; None if it was not measured."""
    samples = raw.get(bound.row, {}).get(bound.at, {})
    if bound.ours not in samples or (bound.theirs and bound.theirs not in samples):
        return None
    if bound.theirs:
        pair = (bound.theirs, bound.ours) if bound.how == "faster" else (bound.ours, bound.theirs)
        if bound.how == "beyond":
            samples = {**samples, bound.ours: beyond(samples[bound.ours], samples[bound.base])}
        r = ratios(samples, *pair)
        value = {"value": r["ratio_of_means" if bound.how == "means" else "ratio"], "of_minima": r["ratio_of_minima"]}
        if bound.floor in samples:
            pair = (bound.theirs, bound.floor) if bound.how == "faster" else (bound.floor, bound.theirs)
            value["floor"] = ratios(samples, *pair)["ratio"]
        return value
    s = summarise(samples[bound.ours])
    floor = {"floor": summarise(samples[bound.floor])["min"]} if bound.floor in samples else {}
    return {**floor, "value": s["max"] if bound.how == "worst" else s["median"], "of_minima": s["min"]}


def verdict(bound: Bound, value: float | None, floor: float | None, calls: dict[str, float] | None) -> str:
    """Return "OK", "MISSED", "not measured", or "missed, floor …" where even the floor misses the bound."""
    if value is None:
        return "not measured"
    if bound.how == "calls":
        names = {name: round(n) for name, n in (calls or {}).items() if round(n) > 0}
        exact = all(sum(names.pop(n, 0) for n in group) == 1 for group in bound.calls)
        return "OK" if exact and not names else "MISSED"
    kept = value >= bound.limit if bound.how == "faster" else value <= bound.limit
    beyond_reach = floor is not None and (floor < bound.limit if bound.how == "faster" else floor > bound.limit)
    if not kept and beyond_reach:
        return f"missed, floor {floor:.3g}"
    return "OK" if kept else "MISSED"


def far_off(bound: Bound, value: float) -> bool:
    """Say whether a bound that was missed was missed by more than noise."""
    if bound.how == "calls":
        return True
    return value < bound.limit / TOLERANCE if bound.how == "faster" else value > bound.limit * TOLERANCE
