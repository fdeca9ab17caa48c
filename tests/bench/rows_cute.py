"""A row about CuTe DSL: fresh processes that compile a kernel, or find it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import venvs
from ground import HERE
from runs import BenchError, Contender, Series
from workplace import Workplace

#: As the tests of the adapter have it.
PACKAGES = ("nvidia-cutlass-dsl==4.8.1", "apache-tvm-ffi==0.1.15.post2", "numpy>=2", "pytest>=8")

#: Each starts a process and imports the DSL: so many rounds.
_SLOW = 7


def _child(python: str, key: str, cache: Path, *, done: str) -> Callable[[], float]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CUTE_DSL_", "PYTHON"))}
    env.update(JITCACHE_DIR=str(cache), CUTE_DSL_ARCH="sm_90a")

    def run() -> float:
        p = subprocess.run(
            [python, str(HERE / "cute_child.py"), key], env=env, capture_output=True, text=True, check=False
        )
        if p.returncode != 0:
            raise BenchError(f"cute_child.py {key}: {(p.stderr.strip().splitlines() or ['failed'])[-1]}")
        took, what = p.stdout.split()
        if what != done:
            raise BenchError(f"cute_child.py {key}: {what}, want {done}")
        return float(took)

    return run


def cute_hit(w: Workplace) -> Iterator[Series]:
    """From a function and its arguments to what can be called, in a process that has imported the DSL."""
    try:
        python = venvs.python_with("cute-dsl", *PACKAGES)
    except OSError as e:
        w.notes["not measured"]["CuTe DSL"] = str(e)
        return
    cache = w.folder("cute")
    _child(python, "source", cache, done="compiled")()
    contenders = [
        Contender("cute_compile", _child(python, "own", cache, done="compiled")),
        Contender("jitcache_traced", _child(python, "traced", cache, done="hit")),
        Contender("jitcache_source", _child(python, "source", cache, done="hit")),
    ]
    yield Series("matmul", contenders, _SLOW)
