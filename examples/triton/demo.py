"""Triton's kernels from a jitcache: cold, in a fresh process, and beside Triton's own cache.

    pip install triton
    python examples/triton/demo.py [FOLDER]

Each time is that of triton.compile in a process of its own, after Triton is imported,
and includes jitcache's start; the warm ones are the best of three. FOLDER, by default
build/demo-triton, gets the caches. It compiles for sm_90 and launches nothing, so it
needs no GPU. The exit status is 0 if each kernel was compiled when it should be, to
the same code.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "shared"))

import fresh

NAMES = ["add", "softmax", "matmul"]
MANAGER = {"TRITON_CACHE_MANAGER": "jitcache.adapters.triton:Manager"}


def work(name: str, way: str) -> None:
    """Do the work of one process: compile a kernel; print seconds, its digest and the compiles as JSON."""
    import kernels
    import triton
    from triton.backends.compiler import GPUTarget

    compiled: list[str] = []
    source, target = kernels.source(name), GPUTarget("cuda", 90, 32)
    make_ir = source.make_ir

    def counting(*args: object, **more: object) -> object:
        compiled.append(name)
        return make_ir(*args, **more)

    source.make_ir = counting  # of this source: a method that is replaced in Triton's class is part of the key
    start = time.perf_counter()
    if way == "install":
        import jitcache.adapters.triton

        jitcache.adapters.triton.install()
    code = triton.compile(source, target=target).asm["cubin"]
    print(json.dumps((time.perf_counter() - start, hashlib.sha256(code).hexdigest(), len(compiled))))


def process(name: str, way: str, **env: str) -> tuple[float, str, int]:
    """Start a process with ``--work`` and return what it prints."""
    settings = {"TRITON_DEFAULT_FP_FUSION": "1", **env}
    found: tuple[float, str, int] = fresh.process(__file__, name, way, without=("TRITON_",), **settings)
    return found


def main() -> int:
    """Run the processes and print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "demo-triton").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    own = {"TRITON_CACHE_DIR": str(folder / "own")}
    ours = {"JITCACHE_DIR": str(folder / "cache"), "TRITON_CACHE_DIR": str(folder / "files")}
    print(f"{'kernel':10}{'cold':>12}{'own, warm':>14}{'Manager, warm':>16}{'install(), warm':>18}")
    problems = []
    for name in NAMES:
        first, cold = process(name, "install", **ours), process(name, "own", **own)
        warm = (("own", own), ("", {**ours, **MANAGER}), ("install", ours))
        runs = [cold, *(min(process(name, way, **env) for _ in range(3)) for way, env in warm)]
        print(f"{name:10}" + "".join(f"{run[0] * 1e3:>{n}.1f} ms" for run, n in zip(runs, (9, 11, 13, 15))))
        if [first[2], *(run[2] for run in runs)] != [1, 1, 0, 0, 0]:
            problems.append(f"{name}: compiled {first[2]}, {', '.join(str(run[2]) for run in runs)} times")
        if {run[1] for run in runs} != {first[1]}:
            problems.append(f"{name}: other code")
    return fresh.end(problems)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "python"))
    try:
        import triton as _  # noqa: F401
    except ImportError:
        sys.exit("demo: Triton is missing; pip install triton")
    sys.exit(work(*sys.argv[2:]) if "--work" in sys.argv else main())
