"""One process of CuTe DSL: compiles a kernel once, and prints how many microseconds that took after the import.

    python cute_child.py KEY

KEY is source or traced, or own for cute.compile without a cache. The last word of
the line is what was done: hit or compiled.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "examples" / "cute_dsl")]

import cutlass
import cutlass.cute as cute
import kernels
from cutlass.cute.runtime import make_fake_compact_tensor

m, n, k = (cute.sym_int(divisibility=64) for _ in range(3))
tensors = [make_fake_compact_tensor(cutlass.Float32, shape, stride_order=(1, 0)) for shape in ((m, k), (n, k), (m, n))]
start = time.perf_counter_ns()
if sys.argv[1] == "own":
    cute.compile(kernels.matmul, *tensors)
    done = "compiled"
else:
    from jitcache.adapters import cute_dsl

    result = cute_dsl.compile(kernels.matmul, *tensors, key=sys.argv[1])
    done = "hit" if result.hit and result.how == sys.argv[1] else "compiled"
print((time.perf_counter_ns() - start) / 1e3, done)
