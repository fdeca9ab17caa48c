"""What the demo compiles: a network's gradient, a scan, and a sort."""

from __future__ import annotations

from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np


def network(weights: Any, x: Any, y: Any) -> Any:
    """Return the gradient of a network of eight layers."""

    def loss(weights: Any) -> Any:
        h = x
        for w in weights:
            h = jnp.tanh(h @ w) + h
        return jnp.mean((h - y) ** 2)

    return jax.grad(loss)(weights)


def walk(state: Any) -> Any:
    """Return a thousand steps of a pendulum."""

    def step(s: Any, _: Any) -> Any:
        q, p = s
        p = p - 0.01 * jnp.sin(q)
        return (q + 0.01 * p, p), q

    return jax.lax.scan(step, state, None, length=1000)[1]


def spectrum(x: Any) -> Any:
    """Return the largest coefficients of a transform, sorted."""
    return jnp.sort(jnp.abs(jnp.fft.rfft(x)))[-8:] + jnp.linalg.norm(jnp.linalg.qr(jnp.outer(x, x)[:32, :32])[1])


def jobs() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return each function with its arguments."""
    rng = np.random.default_rng(1)

    def array(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32) * 0.1

    return {
        "network": (network, ([array(64, 64) for _ in range(8)], array(32, 64), array(32, 64))),
        "walk": (walk, ((np.float32(1), np.float32(0)),)),
        "spectrum": (spectrum, (array(256),)),
    }
