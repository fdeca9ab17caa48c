"""JAX's programs from a jitcache: cold, in a fresh process, and beside JAX's own persistent cache.

    pip install jax
    python examples/jax/demo.py [FOLDER]

Each time is that of the first call in a process of its own, after JAX has started
its backend. FOLDER, by default build/demo-jax, gets both caches. The exit status
is 0 if each program was compiled when it should be, and right.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "shared"))

import fresh

NAMES = ["network", "walk", "spectrum"]


def work(way: str) -> None:
    """Do the work of one process: call each function once, and print seconds, compiles and results as JSON."""
    import jax
    import numpy as np
    from programs import jobs

    if way == "ours":
        import jitcache.adapters.jax

        jitcache.adapters.jax.install()
    else:  # JAX's own, set to keep small programs too
        jax.config.update("jax_compilation_cache_dir", way)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    stored: list[str] = []
    jax.monitoring.register_event_listener(
        lambda event, **_: stored.append(event) if event == "/jax/compilation_cache/cache_misses" else None
    )
    jax.numpy.zeros(1).block_until_ready()
    answers = {}
    for name, (function, args) in jobs().items():
        stored.clear()
        start = time.perf_counter()
        result = jax.block_until_ready(jax.jit(function)(*args))
        seconds = time.perf_counter() - start
        numbers = [float(np.asarray(leaf, np.float64).sum()) for leaf in jax.tree_util.tree_leaves(result)]
        answers[name] = (seconds, len(stored), numbers)
    print(json.dumps(answers))


def process(way: str, **env: str) -> dict[str, tuple[float, int, list[float]]]:
    """Start a process with ``--work`` and return what it prints."""
    found: dict[str, tuple[float, int, list[float]]] = fresh.process(
        __file__, way, without=("JAX_COMPILATION", "JAX_PERSISTENT"), **env
    )
    return found


def main() -> int:
    """Run the processes and print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "demo-jax").resolve()
    for name in ("cache", "own"):
        shutil.rmtree(folder / name, ignore_errors=True)
    ours = {"JITCACHE_DIR": str(folder / "cache")}
    cold, warm = (process("ours", **ours) for _ in range(2))
    own = [process(str(folder / "own")) for _ in range(2)][1]
    print(f"{'program':10}{'cold':>12}{'fresh process':>16}{'own cache':>14}")
    problems = []
    for name in NAMES:
        times = [run[name][0] * 1e3 for run in (cold, warm, own)]
        print(f"{name:10}{times[0]:>9.1f} ms{times[1]:>13.1f} ms{times[2]:>11.1f} ms")
        if cold[name][1] == 0 or warm[name][1] != 0:
            problems.append(f"{name}: compiled {cold[name][1]} and {warm[name][1]} times")
        if cold[name][2] != warm[name][2]:
            problems.append(f"{name}: {warm[name][2]} in a fresh process, {cold[name][2]} in the first")
    return fresh.end(problems)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "python"))
    try:
        import jax as _  # noqa: F401
    except ImportError:
        sys.exit("demo: JAX is missing; pip install jax")
    sys.exit(work(sys.argv[-1]) if "--work" in sys.argv else main())
