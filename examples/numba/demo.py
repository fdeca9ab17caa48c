"""Numba's functions from a jitcache: cold, in a fresh process, and beside Numba's own cache.

    pip install numba quantecon
    python examples/numba/demo.py [FOLDER]

Then a package from PyPI, quantecon, in fresh processes.

Each time is that of the first call in a process of its own, for each function,
after Numba has got ready. FOLDER, by default build/demo-numba, gets both caches.
The exit status is 0 if each function was compiled when it should be, and right.
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
NAMES = ["loop", "statistics", "parallel", "elements"]


def work() -> None:
    """Do the work of one process: call each function once, and print seconds, results and compiles as JSON."""
    import numba
    import numpy as np
    from numba.core import compiler

    compiled: list[str] = []
    compile_extra = compiler.compile_extra

    def counting(typing: object, target: object, function: object, *args: object, **more: object) -> object:
        compiled.append(function.__name__)
        return compile_extra(typing, target, function, *args, **more)

    compiler.compile_extra = counting
    if "NUMBA_CACHE_DIR" not in os.environ:
        import jitcache.adapters.numba

        jitcache.adapters.numba.install()
    import functions

    x = np.linspace(0.1, 2.0, 1000)
    numba.njit(lambda x: x.sum())(x)  # what Numba does once per process
    answers = {}
    for name in NAMES:
        start = time.perf_counter()
        result = getattr(functions, name)(x)
        answers[name] = (time.perf_counter() - start, float(np.sum(result)), name in compiled)
    print(json.dumps(answers))


def process(**env: str) -> dict[str, tuple[float, float, bool]]:
    """Start such a process and return what it prints."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE", "NUMBA_"))}
    path = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, __file__, "--work"]
    out = subprocess.run(command, env={**clean, "PYTHONPATH": path, **env}, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def packages_in_fresh_processes() -> list[str]:
    """Print what a package from PyPI gains that knows nothing of jitcache; return what is wrong."""
    import packages

    row = next(w for w in packages.WORKS if w.function == "quantecon_three")
    if not packages.metadata_of(sys.executable, row.distribution):
        return [f"{row.distribution} is missing; pip install {row.distribution}"]
    print("\nA package, with JITCACHE_NUMBA=everything: functions that are compiled, seconds of the processor")
    print(packages.HEAD, end="")
    measured = packages.measure(sys.executable, row)
    return measured.problems + [f"{row.distribution}: compiled again" for _ in measured.warm]


def main() -> int:
    """Run the processes and print the table."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "demo-numba").resolve()
    for name in ("cache", "numba"):
        shutil.rmtree(folder / name, ignore_errors=True)
    ours, own = {"JITCACHE_DIR": str(folder / "cache")}, {"NUMBA_CACHE_DIR": str(folder / "numba")}
    cold, warm = process(**ours), process(**ours)
    own_cold, own_warm = process(**own), process(**own)
    print(f"{'first call of':14}{'cold':>12}{'fresh process':>16}{'Numba own cache':>18}")
    problems = []
    for name in NAMES:
        times = [run[name][0] * 1e3 for run in (cold, warm, own_warm)]
        print(f"{name:14}{times[0]:>9.1f} ms{times[1]:>13.2f} ms{times[2]:>15.2f} ms")
        if len({round(run[name][1], 9) for run in (cold, warm, own_cold, own_warm)}) != 1:
            problems.append(f"{name}: results differ")
        if not cold[name][2] or warm[name][2]:
            problems.append(f"{name}: compiled {'again' if warm[name][2] else 'never'}")
    problems += packages_in_fresh_processes()
    for problem in problems:
        print(f"FAILED: {problem}")
    if not problems:
        print("\nEach was compiled once, every result is right.")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        import numba as _  # noqa: F401
    except ImportError:
        sys.exit("demo: numba is missing; pip install numba")
    sys.exit(work() if "--work" in sys.argv else main())
