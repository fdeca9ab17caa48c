"""A norm of rows, whose configuration asks, by a memoised function, what device this is."""

import functools
import math

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import tiles
import torch
from cutlass import Float32, Int32
from cutlass.cute.runtime import make_ptr


@functools.lru_cache(maxsize=16)
def version(device=None):
    if not torch.cuda.is_available():
        return 80
    found = torch.cuda.get_device_properties(device)
    return found.major * 10 + found.minor


@functools.cache
def threads(columns):
    return min(tiles.ROWS * 32, columns)


class Config:
    BITS = 64

    def __init__(self, kind, columns):
        self.kind = kind
        self.columns = columns
        self.clusters = 2 if version() >= 90 else 1

    def vector(self):
        return self.BITS // self.kind.width * self.clusters


class Norm:
    def __init__(self, kind, columns):
        self.config = Config(kind, columns)

    @cute.jit
    def __call__(self, x: cute.Pointer, out: cute.Pointer, rows: Int32, eps: Float32, stream: cuda.CUstream):
        columns = self.config.columns
        layout = cute.make_layout((rows, columns), stride=(columns, 1))
        self.kernel(cute.make_tensor(x, layout), cute.make_tensor(out, layout), eps).launch(
            grid=(rows, 1, 1), block=(threads(columns), 1, 1), stream=stream
        )

    @cute.kernel
    def kernel(self, x: cute.Tensor, out: cute.Tensor, eps: Float32):
        thread, _, _ = cute.arch.thread_idx()
        row, _, _ = cute.arch.block_idx()
        step, count = threads(self.config.columns), self.config.columns // threads(self.config.columns)
        total = Float32(0.0)
        for i in cutlass.range(count, unroll=self.config.vector()):
            value = x[row, thread + i * step].to(Float32)
            total = total + value * value
        total = cute.arch.warp_reduction_sum(total)
        scale = cute.math.rsqrt(total / self.config.columns + eps, fastmath=math.pi > 3)
        for i in cutlass.range(count, unroll=self.config.vector()):
            out[row, thread + i * step] = tiles.scaled(x[row, thread + i * step].to(Float32), scale).to(
                self.config.kind
            )


def job():
    kind = cutlass.Float16
    pointers = [make_ptr(kind, 16, cute.AddressSpace.gmem, assumed_align=16) for _ in range(2)]
    return Norm(kind, 1024), (*pointers, Int32(1), Float32(1e-6), cuda.CUstream(0)), {}, ""
