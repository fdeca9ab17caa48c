"""An operation on each element of some tensors, with names of symbols, and lines in the result."""

import operator
from functools import partial
from typing import List

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import tiles
import torch
from cutlass.cute.runtime import from_dlpack

VECTOR = 4


@cute.kernel
def each(op: cutlass.Constexpr, inputs: List[cute.Tensor], out: cute.Tensor, shape: cute.Shape, layout: cute.Layout):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    blocks = [input[(None, None), block] for input in inputs]
    mine = [cute.composition(input, layout)[thread, None] for input in blocks]
    target = cute.composition(out[(None, None), block], layout)[thread, None]
    if cute.elem_less((thread, block), shape):
        target.store(op(*[input.load() for input in mine]))


@cute.jit
def apply(op: cutlass.Constexpr, inputs: List[cute.Tensor], out: cute.Tensor, stream: cuda.CUstream):
    each.set_name_prefix("each")
    tiler, layout = cute.make_layout_tv(
        cute.make_ordered_layout((tiles.ROWS, tiles.columns(128)), order=(1, 0)),
        cute.make_ordered_layout((1, VECTOR), order=(1, 0)),
    )
    inputs = [cute.zipped_divide(input, tiler) for input in inputs]
    out = cute.zipped_divide(out, tiler)
    each(op, inputs, out, out.shape[1], layout).launch(
        grid=(cute.size(out, mode=[1]), 1, 1), block=(cute.size(layout, mode=[0]), 1, 1), stream=stream
    )


def leaky(x, alpha):
    return cute.where(x > 0, x, alpha * x)


def job():
    inputs = [from_dlpack(torch.empty(256, 256), assumed_align=16) for _ in range(2)]
    out = from_dlpack(torch.empty(256, 256), assumed_align=16).mark_layout_dynamic()
    apply.set_name_prefix("host")
    return apply, (operator.mul, inputs, out, cuda.CUstream(0)), {}, cute.GenerateLineInfo(True)


def leaky_job():
    inputs = [from_dlpack(torch.empty(256, 256), assumed_align=16)]
    out = from_dlpack(torch.empty(256, 256), assumed_align=16).mark_layout_dynamic()
    return apply, (partial(leaky, alpha=0.01), inputs, out, cuda.CUstream(0)), {}, "--generate-line-info"
