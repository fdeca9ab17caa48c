"""CuTe DSL: a kernel on vectors, found by source and by trace."""

import cutlass
import cutlass.cute as cute
import torch
from cutlass.base_dsl.compiler import Compiler
from cutlass.cute.runtime import make_fake_compact_tensor

FACTOR = 3
N = 1000


@cute.kernel
def kernel(x: cute.Tensor, y: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * 64 + thread
    if i < cute.size(x):
        y[i] = x[i] * FACTOR + y[i]


@cute.jit
def axpy(x: cute.Tensor, y: cute.Tensor):
    kernel(x, y).launch(grid=((cute.size(x) + 63) // 64, 1, 1), block=(64, 1, 1))


def watch(note):
    original = Compiler.compile

    def compile_(self, *args, **more):
        note()
        return original(self, *args, **more)

    Compiler.compile = compile_


ours = False


def install():
    global ours
    ours = True


def compiled(key):
    tensor = make_fake_compact_tensor(cutlass.Float32, (cute.sym_int(divisibility=4),), stride_order=(0,))
    if ours:
        from jitcache.adapters import cute_dsl

        return cute_dsl.compile(axpy, tensor, tensor, options="--enable-tvm-ffi", key=key)
    return cute.compile(axpy, tensor, tensor, options="--enable-tvm-ffi")


def launched():
    found = []
    for key in ("source", "traced"):
        x, y = torch.arange(N, device="cuda").float(), torch.ones(N, device="cuda")
        compiled(key)(x, y)
        torch.cuda.synchronize()
        found.append(y.cpu().numpy().tobytes())
    return found


def right(results):
    return results == [(torch.arange(N).float() * FACTOR + 1).numpy().tobytes()] * 2
