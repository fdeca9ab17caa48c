"""Rows about beginnings: a cache that is opened, a library that is loaded, a process that starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import rivals
from ground import ROOT
from runs import Ask, BenchError, Calls, Contender, Series
from workplace import Workplace


def opening(w: Workplace) -> Iterator[Series]:
    import jitcache

    with w.bench() as c:
        contenders = []
        for at in w.scale.caches:
            folder = w.small_entries(at)
            jitcache.Cache(folder, max_size="50Gi").close()  # a cap, and it is stored
            contenders.append(Contender(f"jitcache_{at}", Ask(c, "opens", folder, 20, count=20)))
        contenders.append(Contender("jitcache_python", Calls(_python_open(w.small_entries(at)), 20)))
        yield Series("capped", contenders, w.scale.rounds)
    if rivals.usable(rivals.FileStream):
        return
    contenders = []
    for at, count in w.scale.caches.items():
        folder = w.folder(f"open-cuda-core-{at}")
        rivals.FileStream(folder).fill(count, lambda i: b"x" * 512)
        contenders.append(Contender(f"cuda_core_{at}", Calls(_rival_open(folder), 1)))
    yield Series("capped_rival", contenders, 3 if w.scale.slow < 10 else 5)


def _python_open(folder: Path) -> Callable[[], Any]:
    import jitcache

    return lambda: jitcache.Cache(folder).close()


def _rival_open(folder: Path) -> Callable[[], Any]:
    return lambda: rivals.FileStream(folder, cap=50 << 30)


def _first(program: Path, library: Path) -> Callable[[], dict[str, float]]:
    def run() -> dict[str, float]:
        p = subprocess.run([str(program), str(library)], capture_output=True, text=True, check=True)
        load, call = (int(x) / 1e3 for x in p.stdout.split())
        return {"": load + call, "dlopen": load, "first_call": call}

    return run


def load(w: Workplace) -> Iterator[Series]:
    yield Series("c", [Contender("jitcache", _first(w.ground.first, w.ground.library))], w.scale.rounds)


def _spawn(argv: list[str], want: bytes) -> Callable[[], float]:
    """A contender: from the start of a process to the first byte it writes, or its end."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled, here by the round that does not count

    def run() -> float:
        r, out = os.pipe()
        start = time.perf_counter_ns()
        pid = os.posix_spawn(argv[0], argv, env, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
        os.close(out)
        got = os.read(r, 1)
        took = time.perf_counter_ns() - start
        os.close(r)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status != 0 or got != want:
            raise BenchError(f"{' '.join(argv)[:200]}: wrote {got!r}, status {status}")
        return took / 1e3

    return run


_OURS = """
import os, sys, jitcache
cache = jitcache.Cache(sys.argv[1])
if cache.get(jitcache.Key(entry=sys.argv[2])) is not None: os.write(1, b"1")
"""
_IMPORT = "import os\nfrom jitcache import Cache, Key\nos.write(1, b'1')"
_CTYPES = "import os, ctypes\nos.write(1, b'1')"
_CUDA_CORE = """
import os, sys
from cuda.core.utils import FileStreamProgramCache
cache = FileStreamProgramCache(sys.argv[1])
if cache.get(bytes.fromhex(sys.argv[2])) is not None: os.write(1, b"1")
"""


def process(w: Workplace) -> Iterator[Series]:
    folder, python = w.entries("64k"), sys.executable
    ours = [str(folder), "64k 7"]
    contenders = [
        Contender("true", _spawn([shutil.which("true") or "/bin/true"], b"")),
        Contender("jitcache_c", _spawn([str(w.ground.fresh), *ours], b"1")),
        Contender("python_pass", _spawn([python, "-c", "pass"], b"")),
        Contender("python_ctypes", _spawn([python, "-c", _CTYPES], b"1")),
        Contender("jitcache_import", _spawn([python, "-c", _IMPORT], b"1")),
        Contender("jitcache_python", _spawn([python, "-c", _OURS, *ours], b"1")),
    ]
    if not rivals.usable(rivals.FileStream):
        home = w.folder("process-cuda-core")
        rival = rivals.FileStream(home)
        rival.fill(1, lambda i: b"x" * (64 << 10))
        contenders.append(
            Contender("cuda_core", _spawn([python, "-c", _CUDA_CORE, str(home), rival.key(0).hex()], b"1"))
        )
    yield Series("64k", contenders, w.scale.slow)
