"""A memoized function with NumPy in its reach; it prints that it runs."""

from __future__ import annotations

import json

import jitcache
import numpy as np

WEIGHTS = np.linspace(0, 1, 5)


def weighted(n: int) -> float:
    return float(np.dot(WEIGHTS, np.arange(5) * n))


@jitcache.memoize(codec=json)
def plan(n: int) -> dict[str, float]:
    print("runs")
    return {"weighted": weighted(n)}


print(json.dumps([plan(3), plan.last_reason]))
