"""Three kernels, and what they are compiled for."""

import triton
import triton.language as tl
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + at, powers / tl.sum(powers, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, STEP):
        left = tl.load(a + i[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + j[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + i[:, None] * N + j[None, :], total)


def sources():
    """Return what is compiled, by name."""
    float32, half = "*fp32", "*fp16"
    return {
        "add": (add, {"x": float32, "y": float32, "out": float32, "n": "i32"}, {"BLOCK": 1024}),
        "softmax": (softmax, {"out": float32, "x": float32, "stride": "i32", "n": "i32"}, {"BLOCK": 4096}),
        "matmul": (matmul, {"a": half, "b": half, "c": float32, "K": "i32"}, {"M": 128, "N": 128, "STEP": 64}),
    }


def source(name):
    """Return one of them as Triton's compiler takes it."""
    kernel, types, constants = sources()[name]
    return ASTSource(kernel, {**types, **dict.fromkeys(constants, "constexpr")}, constants)
