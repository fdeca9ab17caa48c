"""The programs of the demo: one that cuda.core caches itself, and others that it refuses to cache."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A program: its source, options of cuda.core's, name expressions, and whether cuda.core caches it."""

    source: str
    options: dict[str, object]
    names: list[str]
    cached_by_cuda_core: bool


PLAIN = """
extern "C" __global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
"""

TEMPLATE = """
template <class T> __global__ void scale(T *x, T a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
"""

HEADER = '#include "scale.h"\nextern "C" __global__ void scale(float *x, float a, int n) { scale_by(x, a, n); }\n'

LARGE = """
template <int M, int N, int K> __device__ void multiply(const float *a, const float *b, float *c)
{
    float sum[M][N] = {};
    for (int k = 0; k < K; k++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++)
                sum[i][j] += a[(threadIdx.x * M + i) * K + k] * b[k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            c[(threadIdx.x * M + i) * N + j] = sum[i][j];
}
""" + "\n".join(
    f'extern "C" __global__ void multiply_{m}_{n}(const float *a, const float *b, float *c)'
    f" {{ multiply<{m}, {n}, 16>(a, b, c); }}"
    for m in (2, 4, 6, 8)
    for n in (4, 6, 8)
)  # fmt: skip

#: The text of scale.h, which is written beside the caches.
SCALE_H = PLAIN.replace('extern "C" __global__ void scale', "__device__ void scale_by")


def examples(include: str) -> dict[str, Example]:
    """Return the programs by name; ``include`` is the folder of scale.h."""
    return {
        "plain": Example(PLAIN, {}, [], True),
        "large": Example(LARGE, {}, [], True),
        "template": Example(TEMPLATE, {}, ["scale<float>"], False),
        "header": Example(HEADER, {"include_path": include}, [], False),
    }
