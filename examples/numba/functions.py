"""Four typical functions: a loop, one that calls NumPy, a parallel one, and one over elements."""

from __future__ import annotations

import numba
import numpy as np

SCALE = 0.5


@numba.njit
def damp(x: float) -> float:
    """Be called by the others; in a program this would be in another file."""
    return SCALE * x / (1.0 + x * x)


@numba.njit(cache=True)
def loop(x: np.ndarray) -> float:
    """Add up."""
    total = 0.0
    for value in x:
        total += damp(value)
    return total


@numba.njit(cache=True)
def statistics(x: np.ndarray) -> float:
    """Use what Numba compiles for seconds."""
    return np.median(np.sort(x)) + np.percentile(x, 25)


@numba.njit(cache=True, parallel=True)
def parallel(x: np.ndarray) -> float:
    """Add up, with threads."""
    total = 0.0
    for i in numba.prange(x.size):
        total += damp(x[i])
    return total


@numba.vectorize(cache=True)
def elements(x: float) -> float:
    """Be a ufunc."""
    return damp(x)
