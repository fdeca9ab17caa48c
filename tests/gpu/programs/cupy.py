"""CuPy: a kernel from a text, one of a template, an elementwise one and a reduction."""

import ctypes
import os

ctypes.CDLL(os.environ["NVRTC"], mode=ctypes.RTLD_GLOBAL)

import cupy
import numpy as np

FACTOR = 3

RAW = f"""
extern "C" __global__ void scaled(const int *x, int *out, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] * {FACTOR} + 1;
}}
"""
AXPY = "template <class T> __global__ void axpy(T a, const T *x, T *y) { y[threadIdx.x] += a * x[threadIdx.x]; }"


def watch(note):
    """Its compiles are those of NVRTC."""


def install():
    import jitcache.adapters.cupy

    assert jitcache.adapters.cupy.install()


def launched():
    x = cupy.arange(10_000, dtype=cupy.int32)
    out, y = cupy.full_like(x, -1), cupy.ones(64, dtype=cupy.float64)
    cupy.RawKernel(RAW, "scaled")((40,), (256,), (x, out, np.int32(x.size)))
    module = cupy.RawModule(code=AXPY, options=("-std=c++17",), name_expressions=("axpy<double>",))
    module.get_function("axpy<double>")((1,), (64,), (np.float64(FACTOR), y.copy(), y))
    squared = cupy.ElementwiseKernel("int32 x", "int32 z", f"z = x * x % 1000 + {FACTOR}", "squared")(x)
    norm = cupy.ReductionKernel("int32 x", "int64 s", f"(long long)x * {FACTOR}", "a + b", "s = a", "0", "norm")(x)
    return [cupy.asnumpy(a).tobytes() for a in (out, y, squared, norm)]


def right(results):
    x = np.arange(10_000, dtype=np.int32)
    wanted = [
        x * FACTOR + 1,
        np.full(64, 1.0 + FACTOR),
        x * x % 1000 + FACTOR,
        np.int64(int(x.sum(dtype=np.int64)) * FACTOR),
    ]
    return results == [w.tobytes() for w in wanted]
