"""A product of matrices on Hopper: TMA copies, WGMMA, and blocks that stay and take one tile after the other."""

from typing import Optional, Tuple, Type

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.hopper_helpers as hopper
import tiles
import torch
from cutlass.cute.nvgpu import cpasync, warpgroup
from cutlass.cute.runtime import from_dlpack

THREADS = 128
DEPTH = 64


class Product:
    stages = 3

    def __init__(self, accumulator: Type[cutlass.Numeric], tile: Tuple[int, int]):
        self.accumulator = accumulator
        self.tile = (*tile, DEPTH)
        self.kind: Optional[Type[cutlass.Numeric]] = None

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, most: cutlass.Constexpr, stream: cuda.CUstream):
        self.kind = a.element_type
        layouts = [utils.LayoutEnum.from_tensor(input) for input in (a, b)]
        mma = hopper.make_trivial_tiled_mma(
            a.element_type,
            b.element_type,
            *[layout.sm90_mma_major_mode() for layout in layouts],
            self.accumulator,
            (1, 1, 1),
            tiler_mn=(64, self.tile[1]),
        )
        sa = hopper.make_smem_layout_a(layouts[0], self.tile, a.element_type, self.stages)
        sb = hopper.make_smem_layout_b(layouts[1], self.tile, b.element_type, self.stages)
        copy_a, ta = self.tma(a, sa, (self.tile[0], DEPTH))
        copy_b, tb = self.tma(b, sb, (self.tile[1], DEPTH))

        @cute.struct
        class Storage:
            barriers: cute.struct.MemRange[cutlass.Int64, self.stages * 2]
            a: cute.struct.Align[cute.struct.MemRange[self.kind, cute.cosize(sa)], 1024]
            b: cute.struct.Align[cute.struct.MemRange[self.kind, cute.cosize(sb)], 1024]

        self.storage = Storage
        counts = cute.ceil_div(cute.shape(c), self.tile[:2])
        schedule = utils.PersistentTileSchedulerParams((*counts, 1), (1, 1, 1))
        grid = utils.StaticPersistentTileScheduler.get_grid_shape(schedule, most)
        self.kernel(copy_a, ta, copy_b, tb, c, mma, sa, sb, schedule).launch(
            grid=grid, block=(THREADS, 1, 1), stream=stream
        )

    @staticmethod
    def tma(tensor, staged, tile):
        layout = cute.slice_(staged, (None, None, 0))
        return cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), tensor, layout, tile)

    @cute.kernel
    def kernel(
        self,
        copy_a: cute.CopyAtom,
        a: cute.Tensor,
        copy_b: cute.CopyAtom,
        b: cute.Tensor,
        c: cute.Tensor,
        mma: cute.TiledMma,
        la: cute.ComposedLayout,
        lb: cute.ComposedLayout,
        schedule: utils.PersistentTileSchedulerParams,
    ):
        thread, _, _ = cute.arch.thread_idx()
        warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        storage = utils.SmemAllocator().allocate(self.storage)
        size = cute.size_in_bytes(self.kind, cute.slice_(la, (None, None, 0)))
        size += cute.size_in_bytes(self.kind, cute.slice_(lb, (None, None, 0)))
        pipe = pipeline.PipelineTmaAsync.create(
            barrier_storage=storage.barriers.data_ptr(),
            num_stages=self.stages,
            producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, THREADS // 32),
            tx_count=size,
        )
        sa = storage.a.get_tensor(la.outer, swizzle=la.inner)
        sb = storage.b.get_tensor(lb.outer, swizzle=lb.inner)
        part = mma.get_slice(0)
        fa, fb = mma.make_fragment_A(part.partition_A(sa)), mma.make_fragment_B(part.partition_B(sb))
        fill = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, self.stages)
        read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.stages)
        tiler = utils.StaticPersistentTileScheduler.create(schedule, cute.arch.block_idx(), cute.arch.grid_dim())
        work = tiler.initial_work_tile_info()
        while work.is_valid_tile:
            x, y, _ = work.tile_idx
            ga = cute.local_tile(a, (self.tile[0], DEPTH), (x, None))
            gb = cute.local_tile(b, (self.tile[1], DEPTH), (y, None))
            gc = cute.local_tile(c, self.tile[:2], (x, y))
            one = cute.make_layout(1)
            to_a, from_a = cpasync.tma_partition(copy_a, 0, one, cute.group_modes(sa, 0, 2), cute.group_modes(ga, 0, 2))
            to_b, from_b = cpasync.tma_partition(copy_b, 0, one, cute.group_modes(sb, 0, 2), cute.group_modes(gb, 0, 2))
            out = mma.get_slice(thread).partition_C(gc)
            sums = cute.make_rmem_tensor(out.shape, self.accumulator)
            mma.set(warpgroup.Field.ACCUMULATE, False)
            for k in cutlass.range(cute.size(ga, mode=[2]), unroll=1):
                if warp == 0:
                    pipe.producer_acquire(fill)
                    barrier = pipe.producer_get_barrier(fill)
                    cute.copy(copy_a, from_a[None, k], to_a[None, fill.index], tma_bar_ptr=barrier)
                    cute.copy(copy_b, from_b[None, k], to_b[None, fill.index], tma_bar_ptr=barrier)
                    pipe.producer_commit(fill)
                    fill.advance()
                pipe.consumer_wait(read)
                warpgroup.fence()
                for d in cutlass.range(cute.size(fa, mode=[2]), unroll_full=True):
                    at = (None, None, d, read.index)
                    cute.gemm(mma, sums, fa[at], fb[at], sums)
                    mma.set(warpgroup.Field.ACCUMULATE, True)
                warpgroup.commit_group()
                warpgroup.wait_group(0)
                pipe.consumer_release(read)
                read.advance()
            result = cute.make_fragment_like(sums, c.element_type)
            result.store(tiles.scaled(sums.load(), 2.0).to(c.element_type))
            cute.autovec_copy(result, out)
            tiler.advance_to_next_work()
            work = tiler.get_current_work()


def job(tile=(64, 128), most=64):
    tensors = [from_dlpack(torch.empty(256, 256, dtype="f2"), assumed_align=16) for _ in range(3)]
    tensors = [tensor.mark_layout_dynamic(leading_dim=1) for tensor in tensors]
    return Product(cutlass.Float32, tile), (*tensors, most, cuda.CUstream(0)), {}, ""
