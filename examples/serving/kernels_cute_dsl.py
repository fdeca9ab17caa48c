"""A kernel of CuTe DSL, which is compiled for what CUTE_DSL_ARCH says."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_compact_tensor
from jitcache.adapters import cute_dsl


@cute.kernel
def scale_kernel(x: cute.Tensor, factor: cutlass.Constexpr) -> None:
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    at = block * 64 + thread
    if at < cute.size(x):
        x[at] = x[at] * factor


@cute.jit
def scale(x: cute.Tensor, factor: cutlass.Constexpr) -> None:
    scale_kernel(x, factor).launch(grid=((cute.size(x) + 63) // 64, 1, 1), block=(64, 1, 1))


def code(_: int) -> bytes:
    """Return its object file."""
    x = make_fake_compact_tensor(cutlass.Float32, (cute.sym_int(divisibility=64),), stride_order=(0,))
    return bytes(cute_dsl.compile(scale, x, 2.0).object)
