"""One process of Triton: gets kernels, and prints how many microseconds each has taken, after a first one.

    python triton_child.py COUNT

The last word of the line is how many of them were compiled. What each process does
once, the import, the fingerprint, the first connection, is not in the figure.
"""

from __future__ import annotations

import sys
import time

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, o, n, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + N * tl.load(y + i, mask=m), mask=m)


class Source(ASTSource):
    """A source that counts how often it was compiled."""

    compiled = 0

    def make_ir(self, *args):
        Source.compiled += 1
        return super().make_ir(*args)


TYPES = {"x": "*fp32", "y": "*fp32", "o": "*fp32", "n": "i32", "N": "constexpr", "B": "constexpr"}


def get(number: int) -> None:
    triton.compile(Source(add, TYPES, {"N": number, "B": 256}), target=GPUTarget("cuda", 90, 32))


if not hasattr(triton.knobs.cache, "redis"):  # where the backend of Triton 3.9.0 looks for it, in vain
    triton.knobs.cache.redis = triton.knobs.redis

get(0)
count = int(sys.argv[1])
start = time.perf_counter_ns()
for number in range(1, count + 1):
    get(number)
print((time.perf_counter_ns() - start) / 1e3 / count, Source.compiled)
