"""Work with packages from PyPI that are written with Numba: what they are called for, on data made here.

Each function imports what it uses and returns its results, which the same call
gives again to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def quantecon_three() -> list[Any]:
    """Measure an unequal income, and walk a Markov chain."""
    import quantecon as qe

    income = np.exp(np.random.default_rng(0).normal(size=500))
    chain = qe.MarkovChain(np.array([[0.9, 0.1], [0.4, 0.6]]))
    return [qe.gini_coefficient(income), *qe.lorenz_curve(income), chain.simulate(500, random_state=1)]


def quantecon_eight() -> list[Any]:
    """Solve games, linear programs, decisions and equations too."""
    import numba
    import quantecon as qe
    from quantecon.game_theory import NormalFormGame, Player, lemke_howson, support_enumeration
    from quantecon.optimize import brentq, linprog_simplex, nelder_mead

    @numba.njit
    def bowl(x: Any) -> float:
        return -((x[0] - 1) ** 2 + (x[1] + 2) ** 2)

    @numba.njit
    def cubic(x: float) -> float:
        return x**3 - 2

    first = Player(np.array([[3.0, 3.0], [2.0, 5.0], [0.0, 6.0]]))
    second = Player(np.array([[3.0, 2.0, 3.0], [2.0, 6.0, 1.0]]))
    game = NormalFormGame((first, second))
    reward = np.array([[5.0, 10.0], [-1.0, -np.inf]])
    moves = np.array([[[0.5, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.5]]])
    decided = qe.markov.DiscreteDP(reward, moves, 0.95).solve(method="policy_iteration")
    cost = np.array([-4.0, -3.0])
    bounds = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([10.0, 8.0])
    return [
        *quantecon_three(),
        nelder_mead(bowl, np.array([0.0, 0.0])).x,
        brentq(cubic, 0.0, 2.0).root,
        linprog_simplex(-cost, A_ub=bounds[0], b_ub=bounds[1]).x,
        *lemke_howson(game),
        *(part for found in support_enumeration(game) for part in found),
        decided.v,
        qe.markov.tauchen(5, 0.9, 0.1).P,
    ]


def stumpy() -> list[Any]:
    """Find motifs in a series, and a query in it."""
    import stumpy

    series = np.cumsum(np.random.default_rng(0).normal(size=400))
    return [stumpy.stump(series, m=24).astype(float), stumpy.mass(series[50:90], series)]


def librosa() -> list[Any]:
    """Pitch, alignment, hidden states, zero crossings and peaks of a tone."""
    import librosa

    t = np.arange(11025) / 11025
    y = (np.sin(2 * np.pi * 220 * t) + 0.1 * np.sin(2 * np.pi * 660 * t)).astype(np.float32)
    x = np.abs(librosa.stft(y, n_fft=512))
    prob = np.array([[0.7, 0.2, 0.4, 0.1], [0.3, 0.8, 0.6, 0.9]])
    steps = np.array([[0.8, 0.2], [0.3, 0.7]])
    envelope = librosa.onset.onset_strength(y=y, sr=11025)
    return [
        librosa.yin(y, fmin=100, fmax=500, sr=11025),
        *librosa.pyin(y, fmin=100, fmax=500, sr=11025),
        *librosa.sequence.dtw(x[:20, :10], x[:20, 3:15]),
        librosa.sequence.viterbi(prob, steps),
        librosa.zero_crossings(y),
        librosa.util.peak_pick(envelope, pre_max=3, post_max=3, pre_avg=3, post_avg=5, delta=0.1, wait=3),
        librosa.util.localmax(x),
        librosa.decompose.hpss(x)[0],
    ]


def numbagg() -> list[Any]:
    """Sum over axes and windows, with values missing."""
    import numbagg

    x = np.random.default_rng(0).normal(size=(4, 100))
    x[:, ::7] = np.nan
    return [numbagg.nanmean(x, axis=1), numbagg.move_mean(x, window=5, min_count=2)]


def umap() -> list[Any]:
    """Embed points in the plane."""
    import umap

    x = np.random.default_rng(0).random((300, 10), np.float32)
    return [umap.UMAP(n_neighbors=5, random_state=1, n_epochs=20).fit_transform(x)]


def pynndescent() -> list[Any]:
    """Index points, and find the neighbours of others."""
    from pynndescent import NNDescent

    rng = np.random.default_rng(0)
    index = NNDescent(rng.random((400, 8), np.float32), n_neighbors=8, random_state=1, n_jobs=1)
    return [*index.neighbor_graph, *index.query(rng.random((10, 8), np.float32), k=4)]


def tsfresh() -> list[Any]:
    """Features of a series."""
    from tsfresh.feature_extraction import feature_calculators as features

    series = np.cumsum(np.random.default_rng(0).normal(size=200))
    alike = [{"query": series[20:40], "threshold": 2.0, "normalize": normalize} for normalize in (True, False)]
    return [dict(features.query_similarity_count(series, alike)), features.sample_entropy(series)]


def datashader() -> list[Any]:
    """Count points and lines by pixel."""
    import datashader as ds
    import pandas as pd

    points = pd.DataFrame(np.random.default_rng(0).normal(size=(1000, 2)), columns=["x", "y"])
    canvas = ds.Canvas(plot_width=50, plot_height=50, x_range=(-3, 3), y_range=(-3, 3))
    counts = canvas.points(points, "x", "y", ds.count())
    lines, shades = canvas.line(points, "x", "y", ds.any()), ds.tf.shade(counts, how="eq_hist")
    return [counts.to_numpy(), lines.to_numpy(), shades.to_numpy()]


def hapsira() -> list[Any]:
    """Follow a satellite, and find a transfer between two places."""
    import warnings

    warnings.simplefilter("ignore")  # of matplotlib's and astropy's
    from astropy import units
    from hapsira.bodies import Earth
    from hapsira.iod import izzo
    from hapsira.twobody import Orbit

    place, speed = [-6045, -3490, 2500] * units.km, [-3.457, 6.618, 2.533] * units.km / units.s
    orbit = Orbit.from_vectors(Earth, place, speed)
    later = orbit.propagate(30 * units.min)
    from_, to = [15945.34, 0, 0] * units.km, [12214.83899, 10249.46731, 0] * units.km
    transfer = izzo.lambert(Earth.k, from_, to, 76 * units.min)
    return [part.value for part in (later.r, later.v, orbit.a, orbit.ecc, *transfer)]
