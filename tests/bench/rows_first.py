"""Rows about what is not in the cache yet: an observed compile beside one without a cache."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

from ground import ROOT
from rows_cuda import ARCH, TRIVIAL, loaded_nvrtc
from rows_native import STL, C
from runs import BenchError, Contender, Series
from workplace import Workplace

#: So many programs one after the other, in a process of their own: the worker has then long begun.
PROGRAMS = 12

# Both print how long each of PROGRAMS different programs took, in ns. Neither counts imports nor opening the cache.
_HOST = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from rows_cuda import Nvrtc
took, nvrtc = [], None
for source in json.load(sys.stdin):
    start = time.perf_counter_ns()
    nvrtc = nvrtc or Nvrtc(Path(sys.argv[2]))
    nvrtc.compile(source, [sys.argv[4], "--no-cache"])
    took.append(time.perf_counter_ns() - start)
print(json.dumps(took))
"""
_OURS = """
import json, sys, time
import jitcache
from jitcache import cuda
took, cache = [], jitcache.Cache(sys.argv[3])
for source in json.load(sys.stdin):
    start = time.perf_counter_ns()
    code = cuda.compile(source, options=[sys.argv[4]], cache=cache)
    took.append(time.perf_counter_ns() - start)
    assert not code.hit and not code.refused, code.refused
print(json.dumps(took))
"""


def _native(w: Workplace, name: str, text: str) -> Callable[[], dict[str, float]]:
    """A round: a text that nobody has compiled, by the compiler alone and by native.build."""
    import jitcache
    from jitcache import native

    folder = w.folder(f"first-{name}")
    cache = jitcache.Cache(folder / "cache", memory_size=0)
    compiler = "g++" if name.endswith(".cpp") else "gcc"
    numbers, built = itertools.count(), itertools.count(1)

    def run() -> dict[str, float]:
        new = f"{text}int number = {next(numbers)};\n"
        (folder / name).write_text(new)
        start = time.perf_counter_ns()
        subprocess.run([compiler, "-O2", "-c", name, "-o", "f.o"], cwd=folder, check=True)
        plain = time.perf_counter_ns() - start
        start = time.perf_counter_ns()
        native.build({name: new}, flags=["-O2"], kind="object", cache=cache)
        ours = time.perf_counter_ns() - start
        if len(list(cache.entries("native"))) != next(built):
            raise BenchError(f"{name}: what was built was not kept")
        return {"compiler": plain / 1e3, "jitcache": ours / 1e3, "more": (ours - plain) / 1e3}

    return run


def _cuda(w: Workplace, script: str, nvrtc: Path) -> Callable[[], dict[str, float]]:
    """A round: the first program of a process, and the median of those from the tenth on.

    Each process has the same cache. The first one reads and hashes NVRTC, 140 MB,
    for it: that is the round that does not count.
    """
    numbers = itertools.count()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "JITCACHE_NVRTC": str(nvrtc)}
    cache = w.folder(f"first-cuda-{len(script)}")

    def run() -> dict[str, float]:
        sources = json.dumps([TRIVIAL % next(numbers) for _ in range(PROGRAMS)])
        command = [sys.executable, "-c", script, str(Path(__file__).parent), str(nvrtc), str(cache), ARCH]
        p = subprocess.run(command, input=sources, env=env, capture_output=True, text=True, check=False)
        if p.returncode != 0:
            raise BenchError(p.stderr[-2000:])
        took: list[int] = json.loads(p.stdout)
        return {"first": took[0] / 1e3, "tenth": sorted(took[9:])[len(took[9:]) // 2] / 1e3}

    return run


def first_compile(w: Workplace) -> Iterator[Series]:
    """What is in no cache yet: C, C++ and CUDA, observed and kept, beside the compiler alone."""
    notes: dict[str, Any] = w.notes["not measured"]
    if shutil.which("gcc") is None or shutil.which("g++") is None:
        notes["first compile"] = "no gcc here"
    else:
        for at, name, text in (("c", "f.c", C), ("stl", "f.cpp", STL)):
            yield Series(at, [Contender("with", _native(w, name, text))], w.scale.slow)
    nvrtc = loaded_nvrtc(w)
    if nvrtc is not None:
        pair = [Contender("nvrtc", _cuda(w, _HOST, nvrtc.path)), Contender("jitcache", _cuda(w, _OURS, nvrtc.path))]
        yield Series("cuda", pair, min(w.scale.slow, 11))
