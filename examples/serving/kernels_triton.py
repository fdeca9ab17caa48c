"""A kernel of Triton."""

import jitcache.adapters.triton
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def silu(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value / (1 + tl.exp(-value)), mask=at < n)


def code(architecture: int) -> bytes:
    """Return its code."""
    jitcache.adapters.triton.install()
    source = ASTSource(silu, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 1024})
    return triton.compile(source, target=GPUTarget("cuda", architecture, 32)).asm["cubin"]
