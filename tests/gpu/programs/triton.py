"""Triton: a kernel on vectors, a product of matrices, and a sum."""

import torch
import triton
import triton.language as tl

FACTOR = 3
SCALE = tl.constexpr(FACTOR)
N, SIDE = 10_000, 64


@triton.jit
def scaled(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * SCALE + 1, mask=at < n)


@triton.jit
def product(a, b, c, SIDE: tl.constexpr):
    at = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)) * SCALE)


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0) * SCALE))


def watch(note):
    """Its compiles are those of ptxas."""


def install():
    import jitcache.adapters.triton

    assert jitcache.adapters.triton.install()


def inputs():
    x = torch.arange(N, dtype=torch.int32)
    a = (torch.arange(SIDE * SIDE) % 7 - 3).reshape(SIDE, SIDE).to(torch.float16)
    return x, a


def launched():
    x, a = (t.cuda() for t in inputs())
    out, sum_ = torch.full_like(x, -1), torch.zeros(1, dtype=torch.int32, device="cuda")
    c = torch.full((SIDE, SIDE), -1.0, device="cuda")
    blocks = (triton.cdiv(N, 256),)
    scaled[blocks](x, out, N, BLOCK=256)
    product[(1,)](a, a, c, SIDE=SIDE)
    total[blocks](x, sum_, N, BLOCK=256)
    return [t.cpu().numpy().tobytes() for t in (out, c, sum_)]


def right(results):
    x, a = inputs()
    c = (a.float() @ a.float()) * FACTOR
    sum_ = (x * FACTOR).sum(dtype=torch.int64).to(torch.int32).reshape(1)
    return results == [t.numpy().tobytes() for t in (x * FACTOR + 1, c, sum_)]
