"""Three typical functions: one kernel on vectors, a matrix product in registers, one with a class."""

from __future__ import annotations

import cutlass
import cutlass.cute as cute

THREADS = 64
TILE = 8  # of rows and columns that one thread computes
STEP = 16  # of K that is unrolled


@cute.jit
def scaled(x: cutlass.Float32, factor: cutlass.Constexpr) -> cutlass.Float32:
    """Be called by a kernel; in a program this would be in another file."""
    return x * factor


@cute.kernel
def axpy_kernel(x: cute.Tensor, y: cute.Tensor, factor: cutlass.Constexpr) -> None:
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * THREADS + thread
    if i < cute.size(x):
        y[i] = scaled(x[i], factor) + y[i]


@cute.jit
def axpy(x: cute.Tensor, y: cute.Tensor, factor: cutlass.Constexpr) -> None:
    """y = factor * x + y."""
    blocks = (cute.size(x) + THREADS - 1) // THREADS
    axpy_kernel(x, y, factor).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1))


@cute.kernel
def matmul_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor) -> None:
    thread, _, _ = cute.arch.thread_idx()
    rows, columns, _ = cute.arch.block_idx()
    row = rows * (TILE * 8) + (thread // 8) * TILE
    column = columns * (TILE * 8) + (thread % 8) * TILE
    sums = cute.make_rmem_tensor(cute.make_layout((TILE, TILE)), cutlass.Float32)
    sums.fill(0.0)
    for step in cutlass.range(cute.size(a, mode=[1]) // STEP):
        for k in cutlass.range_constexpr(STEP):
            at = step * STEP + k
            for i in cutlass.range_constexpr(TILE):
                left = a[row + i, at]
                for j in cutlass.range_constexpr(TILE):
                    sums[i, j] = sums[i, j] + left * b[column + j, at]
    for i in cutlass.range_constexpr(TILE):
        for j in cutlass.range_constexpr(TILE):
            c[row + i, column + j] = sums[i, j]


@cute.jit
def matmul(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor) -> None:
    """c = a @ b.T, for sizes that are multiples of 64, and of 16 for K."""
    grid = (cute.size(c, mode=[0]) // (TILE * 8), cute.size(c, mode=[1]) // (TILE * 8), 1)
    matmul_kernel(a, b, c).launch(grid=grid, block=(THREADS, 1, 1))


class Power:
    """x ** exponent, elementwise, with the exponent known when it is compiled."""

    def __init__(self, exponent: int) -> None:
        self.exponent = exponent

    @cute.kernel
    def kernel(self, x: cute.Tensor) -> None:
        thread, _, _ = cute.arch.thread_idx()
        value = x[thread]
        result = value
        for _ in cutlass.range_constexpr(self.exponent - 1):
            result = result * value
        x[thread] = result

    @cute.jit
    def __call__(self, x: cute.Tensor) -> None:
        self.kernel(x).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))
