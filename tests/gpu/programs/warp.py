"""Warp: a kernel on an array, and one that adds up."""

import os

import numpy as np
import warp as wp
from warp._src import build

FACTOR = 3
N = 10_000

wp.config.quiet = True
wp.config.kernel_cache_dir = os.environ["OWN"]
wp.init()


@wp.kernel
def scaled(x: wp.array(dtype=wp.int32), out: wp.array(dtype=wp.int32)):
    i = wp.tid()
    out[i] = x[i] * wp.static(FACTOR) + 1


@wp.kernel
def total(x: wp.array(dtype=wp.int32), out: wp.array(dtype=wp.int32)):
    wp.atomic_add(out, 0, x[wp.tid()] * wp.static(FACTOR))


def watch(note):
    original = build.build_cuda

    def build_cuda(*args, **more):
        note()
        return original(*args, **more)

    build.build_cuda = build_cuda


def install():
    import jitcache.adapters.warp

    assert jitcache.adapters.warp.install()


def launched():
    x = wp.array(np.arange(N, dtype=np.int32), device="cuda:0")
    out, sum_ = wp.zeros(N, dtype=wp.int32, device="cuda:0"), wp.zeros(1, dtype=wp.int32, device="cuda:0")
    wp.launch(scaled, dim=N, inputs=[x, out], device="cuda:0")
    wp.launch(total, dim=N, inputs=[x, sum_], device="cuda:0")
    return [a.numpy().tobytes() for a in (out, sum_)]


def right(results):
    x = np.arange(N, dtype=np.int32)
    return results == [(x * FACTOR + 1).tobytes(), (x * FACTOR).sum(dtype=np.int32).tobytes()]
