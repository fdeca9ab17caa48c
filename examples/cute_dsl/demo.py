"""CuTe DSL's functions from a jitcache: cold, in a fresh process, and beside the DSL's own, which keeps none.

    pip install nvidia-cutlass-dsl
    python examples/cute_dsl/demo.py [FOLDER]

Each time is that of the compile in a process of its own, after the DSL is
imported. FOLDER, by default build/demo-cute-dsl, gets the cache. Without a GPU it
compiles for sm_90a; with one it also runs what it has found, and compares. The
exit status is 0 if each function was compiled when it should be, and right.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["matmul", "axpy", "power"]


def jobs() -> dict[str, tuple]:
    """Return a function to compile, and arguments that stand for those of calls."""
    import cutlass
    import cutlass.cute as cute
    import kernels
    from cutlass.cute.runtime import make_fake_compact_tensor

    def tensor(*shape: object) -> object:
        return make_fake_compact_tensor(cutlass.Float32, shape, stride_order=tuple(reversed(range(len(shape)))))

    m, n, k = (cute.sym_int(divisibility=64) for _ in range(3))
    return {
        "matmul": (kernels.matmul, tensor(m, k), tensor(n, k), tensor(m, n)),
        "axpy": (kernels.axpy, tensor(m), tensor(m), 2.0),
        "power": (kernels.Power(3), tensor(64)),
    }


def work(key: str) -> None:
    """Do the work of one process: compile each function, and print seconds, compiles and the object's size as JSON."""
    import cutlass.cute as cute
    from cutlass.base_dsl.compiler import Compiler

    compiled: list[str] = []
    run_passes = Compiler.compile

    def counting(self: object, *args: object, **more: object) -> object:
        compiled.append("passes")
        return run_passes(self, *args, **more)

    Compiler.compile = counting
    answers = {}
    for name, (function, *args) in jobs().items():
        compiled.clear()
        start = time.perf_counter()
        if key == "own":
            cute.compile(function, *args)
        else:
            from jitcache.adapters import cute_dsl

            cute_dsl.compile(function, *args, key=key)
        answers[name] = (time.perf_counter() - start, len(compiled))
    print(json.dumps(answers))


def process(key: str, **env: str) -> dict[str, tuple[float, int]]:
    """Start a process with ``--work`` and return what it prints."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE", "CUTE_DSL_"))}
    path = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    if "CUTE_DSL_ARCH" in os.environ or not has_device():
        clean["CUTE_DSL_ARCH"] = os.environ.get("CUTE_DSL_ARCH", "sm_90a")
    command = [sys.executable, __file__, "--work", key]
    out = subprocess.run(command, env={**clean, "PYTHONPATH": path, **env}, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def has_device() -> bool:
    """Return whether there is a GPU."""
    from cuda.bindings import driver

    try:
        return driver.cuInit(0)[0] == 0 and driver.cuDeviceGetCount()[1] > 0
    except Exception:  # noqa: BLE001 - whatever is wrong with the driver
        return False


def launch() -> list[str]:
    """Run the cached functions on the GPU, and return what is wrong."""
    try:
        import torch
    except ImportError:
        print("\nThere is a GPU, but no PyTorch: nothing was run on it.")
        return []
    from jitcache.adapters import cute_dsl

    a, b = (torch.randint(-4, 5, (128, 64), device="cuda").float() for _ in range(2))
    c, x = torch.zeros(128, 128, device="cuda"), torch.arange(64, device="cuda").float()
    y, z = torch.ones(64, device="cuda"), x.clone()
    for name, args in (("matmul", (a, b, c)), ("axpy", (x, y)), ("power", (z,))):
        function, *declared = jobs()[name]
        cute_dsl.compile(function, *declared, options="--enable-tvm-ffi", key="source")(*args)
    torch.cuda.synchronize()
    right = {"matmul": torch.equal(c, a @ b.T), "axpy": torch.equal(y, 2 * x + 1), "power": torch.equal(z, x**3)}
    print("\nOn the GPU: " + ", ".join(f"{name} {'right' if ok else 'WRONG'}" for name, ok in right.items()))
    return [f"{name}: wrong result" for name, ok in right.items() if not ok]


def main() -> int:
    """Run the processes and print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "demo-cute-dsl").resolve()
    shutil.rmtree(folder / "cache", ignore_errors=True)
    ours = {"JITCACHE_DIR": str(folder / "cache")}
    cold, traced, source = (process(key, **ours) for key in ("source", "traced", "source"))
    own = [process("own", CUTE_DSL_CACHE_DIR=str(folder / "own")) for _ in range(2)][1]
    print(f"{'function':10}{'cold':>12}{'hit by trace':>16}{'hit by source':>16}{'own cache':>12}")
    problems = []
    for name in NAMES:
        times = [run[name][0] * 1e3 for run in (cold, traced, source)]
        kept = f"{own[name][0] * 1e3:.1f} ms" if own[name][1] == 0 else "none"
        print(f"{name:10}{times[0]:>9.1f} ms{times[1]:>13.2f} ms{times[2]:>13.2f} ms{kept:>12}")
        if [run[name][1] for run in (cold, traced, source)] != [1, 0, 0]:
            problems.append(f"{name}: compiled {cold[name][1]}, {traced[name][1]} and {source[name][1]} times")
    if has_device():
        os.environ.pop("JITCACHE", None)
        os.environ.update(ours)
        problems += launch()
    for problem in problems:
        print(f"FAILED: {problem}")
    if not problems:
        print("\nEach was compiled once.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "python"))
    try:
        import cutlass as _  # noqa: F401
    except ImportError:
        sys.exit("demo: CuTe DSL is missing; pip install nvidia-cutlass-dsl")
    sys.exit(work(sys.argv[-1]) if "--work" in sys.argv else main())
