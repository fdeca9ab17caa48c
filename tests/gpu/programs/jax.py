"""JAX: an elementwise function, a product with its gradient, a scan and a sort."""

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler

FACTOR = 3


def watch(note):
    original = compiler.backend_compile_and_load

    def backend_compile_and_load(*args, **more):
        note()
        return original(*args, **more)

    compiler.backend_compile_and_load = backend_compile_and_load


def install():
    import jitcache.adapters.jax

    assert jitcache.adapters.jax.install() == "lease"


@jax.jit
def scaled(x):
    return x * FACTOR + 1


@jax.jit
def gradient(a):
    return jax.grad(lambda m: jnp.sum((m @ m) * FACTOR))(a)


@jax.jit
def scanned(x):
    return jax.lax.scan(lambda carry, v: (carry + v * FACTOR, carry), jnp.int32(0), x)[1]


@jax.jit
def ordered(x):
    return jnp.sort((x * 7919) % 10_007)


def launched():
    assert jax.default_backend() == "gpu"
    x, a = np.arange(5_000, dtype=np.int32), (np.arange(4096) % 5 - 2).reshape(64, 64).astype(np.float32)
    return [np.asarray(r).tobytes() for r in (scaled(x), gradient(a), scanned(x), ordered(x))]


def right(results):
    x, a = np.arange(5_000, dtype=np.int32), (np.arange(4096) % 5 - 2).reshape(64, 64).astype(np.float32)
    sums = np.concatenate([[0], np.cumsum(x * FACTOR)[:-1]]).astype(np.int32)
    one = np.ones_like(a)
    slope = ((one @ a.T + a.T @ one) * FACTOR).astype(np.float32)
    wanted = [x * FACTOR + 1, slope, sums, np.sort((x * 7919) % 10_007)]
    return results == [w.astype(np.float32 if w is slope else np.int32).tobytes() for w in wanted]
