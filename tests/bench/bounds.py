"""What fast means: the bounds, and whether they are kept.

A ratio is that of two contenders in the same round, and the median of those
over all rounds: what disturbs a shared machine lasts longer than a round, so it
falls on both sides of a ratio and not on one. The ratio of the two minima is
reported beside it; where the two differ much the run was disturbed.
"""

from __future__ import annotations

import statistics
from typing import Any, NamedTuple

Figures = dict[str, Any]  # row -> series -> contender -> {"min", "median", …}

# Missed by more than this, a bound fails the run: below it is noise.
TOLERANCE = 1.2

_OPEN = ("open", "openat", "openat2")
_FSTAT = ("fstat", "newfstatat", "statx")


class Bound(NamedTuple):
    """One line of the table."""

    name: str  # stable: README and others quote by it
    text: str
    row: str
    at: str
    ours: str
    theirs: str  # "" for a bound on our own figure
    limit: float
    how: str = "ratio"  # ratio, faster (theirs to ours), means, value, worst, calls
    unit: str = ""
    calls: tuple[tuple[str, ...], ...] = ()


BOUNDS = [
    Bound("memory_hit_c", "memory hit, from C, to an empty C-to-Go call", "memory_hit_c", "64k", "jitcache", "empty_go_call", 2),
    Bound(
        "memory_hit_view_python", "memory hit to a view, from Python, to an empty ctypes call (jitcache_abi_version)",
        "memory_hit_view_python", "64k", "jitcache", "empty_ctypes_call", 3,
    ),
    Bound("disk_hit_c", "disk hit with checksum, from C, to open+fstat+read+close in C", "disk_hit_c", "64k", "jitcache", "c_read", 1.5),
    Bound(
        "disk_hit_calls", "system calls of a disk hit: open, fstat, read, close", "system_calls", "calls", "hit", "", 4, "calls",
        calls=(_OPEN, _FSTAT, ("read",), ("close",)),
    ),
    Bound("disk_hit_bytes_24k", "disk hit to bytes, from Python, 24 KB: faster than cuda.core by", "disk_hit_bytes_python", "24k", "jitcache", "cuda_core", 3.5, "faster"),
    Bound("disk_hit_bytes_64k", "the same, 64 KB", "disk_hit_bytes_python", "64k", "jitcache", "cuda_core", 2.5, "faster"),
    Bound("disk_hit_bytes_1m", "the same, 1 MB", "disk_hit_bytes_python", "1m", "jitcache", "cuda_core", 1, "faster"),
    Bound("disk_hit_view_python", "disk hit to a memoryview, from Python, to open+fstat+read+close in Python", "disk_hit_view_python", "64k", "jitcache", "python_read", 1.3),
    Bound("disk_hit_8_threads", "disk hits of 8 threads: p99 to median", "hit_among_threads", "64k", "disk_8_threads_p99", "disk_8_threads_p50", 20),
    Bound("memory_hit_8_threads", "memory hits of 8 threads: p99 to median", "hit_among_threads", "64k", "memory_8_threads_p99", "memory_8_threads_p50", 20),
    Bound("disk_hit_beside_4", "a disk hit now and then beside 4 threads that read: p99 to median", "hit_among_threads", "64k", "disk_1_beside_4_p99", "disk_1_beside_4_p50", 20),
    Bound("memory_hit_beside_4", "the same in memory", "hit_among_threads", "64k", "memory_1_beside_4_p99", "memory_1_beside_4_p50", 20),
    Bound("miss_c", "miss, from C, to a failing open in C", "miss", "c", "jitcache", "c_open", 1.5),
    Bound("miss_calls", "system calls of a miss: open", "system_calls", "calls", "miss", "", 1, "calls", calls=(_OPEN,)),
    Bound("put_c", "put, from C, to write+rename in C", "put", "c", "jitcache", "c_write", 1.5),
    Bound("put_c_tmpfs", "the same on tmpfs", "put", "c_tmpfs", "jitcache", "c_write", 1.5),
    Bound("key_64k_c", "key of a 64 KB source, from C, to its BLAKE3 (the library's own, in Go)", "key", "64k", "jitcache", "go_blake3", 1.3),
    Bound("key_64k_python", "the same, from Python", "key", "64k", "jitcache_python", "go_blake3", 1.3),
    Bound("open_100k", "open with 100,000 entries", "open", "capped", "jitcache_100k", "", 200, "value", "us"),
    Bound("open_same", "open with 100,000 entries to one with 1,000", "open", "capped", "jitcache_100k", "jitcache_1k", 1.25),
    Bound("open_opens", "files opened by an open", "system_calls", "calls", "open_opens", "", 6, "value"),
    Bound("load", "first load of the library: dlopen and the first call into Go", "load", "c", "jitcache", "", 10_000, "value", "us"),
    Bound("put_full", "put into a full cache of 100,000 entries, amortised, to one into an empty cache", "put_full", "100k", "jitcache", "jitcache_empty", 2, "means"),
    Bound("put_full_worst", "the longest of those puts", "put_full", "100k", "jitcache_worst", "", 250_000, "worst", "us"),
]  # fmt: skip


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


def value_of(bound: Bound, raw: dict[str, dict[str, dict[str, list[float]]]]) -> dict[str, float] | None:
    """Return what a bound is about, from the raw samples; None if it was not measured."""
    samples = raw.get(bound.row, {}).get(bound.at, {})
    if bound.ours not in samples or (bound.theirs and bound.theirs not in samples):
        return None
    if bound.theirs:
        pair = (bound.theirs, bound.ours) if bound.how == "faster" else (bound.ours, bound.theirs)
        r = ratios(samples, *pair)
        return {"value": r["ratio_of_means" if bound.how == "means" else "ratio"], "of_minima": r["ratio_of_minima"]}
    s = summarise(samples[bound.ours])
    return {"value": s["max"] if bound.how == "worst" else s["median"], "of_minima": s["min"]}


def verdict(bound: Bound, value: float | None, calls: dict[str, float] | None) -> str:
    """Return "OK", "MISSED" or "not measured"."""
    if value is None:
        return "not measured"
    if bound.how == "calls":
        names = dict(calls or {})
        exact = all(sum(names.pop(n, 0) for n in group) == 1 for group in bound.calls)
        return "OK" if exact and not names else "MISSED"
    kept = value >= bound.limit if bound.how == "faster" else value <= bound.limit
    return "OK" if kept else "MISSED"


def far_off(bound: Bound, value: float) -> bool:
    """Say whether a bound that was missed was missed by more than noise."""
    if bound.how == "calls":
        return True
    return value < bound.limit / TOLERANCE if bound.how == "faster" else value > bound.limit * TOLERANCE
