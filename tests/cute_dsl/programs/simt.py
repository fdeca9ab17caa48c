"""A product of matrices without tensor cores: shared memory, and a stream by default."""

from typing import Tuple

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import cutlass.utils as utils
import torch
from cutlass.cute.runtime import from_dlpack


class Product:
    def __init__(self, tile: Tuple[int, int, int] = (32, 32, 8), unroll: int = 2):
        self.tile = tile
        self.unroll = unroll

    @cute.jit
    def __call__(
        self,
        a: cute.Tensor,
        b: cute.Tensor,
        c: cute.Tensor,
        epilogue: cutlass.Constexpr = lambda x: x,
        stream: cuda.CUstream = cuda.CUstream(cuda.CUstream_flags.CU_STREAM_DEFAULT),
    ):
        rows, columns, _ = self.tile
        grid = (*cute.ceil_div(c.shape, (rows, columns)), 1)
        self.kernel(a, b, c, epilogue).launch(grid=grid, block=(rows * columns // 4, 1, 1), stream=stream)

    @cute.kernel
    def kernel(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, epilogue: cutlass.Constexpr):
        thread, _, _ = cute.arch.thread_idx()
        x, y, _ = cute.arch.block_idx()
        rows, columns, depth = self.tile
        smem = utils.SmemAllocator()
        sa = smem.allocate_tensor(cutlass.Float32, cute.make_layout((rows, depth)), 16)
        sb = smem.allocate_tensor(cutlass.Float32, cute.make_layout((columns, depth)), 16)
        ga = cute.local_tile(a, (rows, depth), (x, None))
        gb = cute.local_tile(b, (columns, depth), (y, None))
        gc = cute.local_tile(c, (rows, columns), (x, y))
        row, column = thread % rows, thread // rows
        sums = cute.make_rmem_tensor((4,), cutlass.Float32)
        sums.fill(0.0)
        for k in cutlass.range(cute.size(ga, mode=[2]), unroll=self.unroll):
            if column < depth:
                sa[row, column] = ga[row, column, k]
                sb[row, column] = gb[row, column, k]
            cute.arch.sync_threads()
            for d in cutlass.range_constexpr(depth):
                for i in cutlass.range_constexpr(4):
                    sums[i] = sums[i] + sa[row, d] * sb[column * 4 + i, d]
            cute.arch.sync_threads()
        for i in cutlass.range_constexpr(4):
            gc[row, column * 4 + i] = epilogue(sums[i])


def job():
    a, b, c = (from_dlpack(torch.empty(*s), assumed_align=16) for s in ((256, 64), (256, 64), (256, 256)))
    return Product(), (a.mark_layout_dynamic(leading_dim=1), b, c), {}, cute.GenerateLineInfo
