"""Rows about launchers: a compile that nobody has made yet, and how much memory a large output takes."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import ground
from rows_launch import said, tool
from rows_native import STL, C
from runs import BenchError, Contender, Series
from workplace import Workplace

_LAUNCHER = str(ground.ROOT / "build" / "lib" / "jitcache")

#: Starts a command, and says the most memory in KB that one of its processes had. It is small itself: a process begins with
#: the figure of the one that starts it.
_METER = """import os, resource, sys
status = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)"""

#: The size of the large object: 400 MB as in reports about other caches.
_LARGE = 400_000_000


def first_compile(
    command: list[str], env: dict[str, str], folder: Path, source: str, new: Callable[[], str], processors: set[int]
) -> Callable[[], dict[str, float]]:
    """A round: a text that nobody has compiled. The time, and what processors worked; in us."""

    def run() -> dict[str, float]:
        (folder / source).write_text(new())
        (folder / "f.o").unlink(missing_ok=True)
        time.sleep(0.01)  # or ccache finds the source too new
        before, here, all_processors = (
            resource.getrusage(resource.RUSAGE_CHILDREN),
            os.getcwd(),
            os.sched_getaffinity(0),
        )
        os.chdir(folder)
        os.sched_setaffinity(0, processors)
        try:
            start = time.perf_counter_ns()
            child = os.posix_spawn(command[0], command, env)
            status = os.waitpid(child, 0)[1]
            took = time.perf_counter_ns() - start
        finally:
            os.sched_setaffinity(0, all_processors)
            os.chdir(here)
        if status != 0:
            raise BenchError(f"{command[0]} has failed")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"time": took / 1e3, "processor": worked * 1e6}

    return run


def launch_first(w: Workplace) -> Iterator[Series]:
    """A new object: through jitcache run and ccache, beside the compiler alone; with all processors and with one."""
    if shutil.which("gcc") is None or shutil.which("g++") is None:
        w.notes["not measured"]["launch_first"] = "no gcc here"
        return
    for (at, source, text), one in itertools.product((("c", "f.c", C), ("stl", "f.cpp", STL)), (False, True)):
        folder, numbers = w.folder(f"launch-first-{at}{'-1' if one else ''}"), itertools.count()
        env = {**os.environ, "JITCACHE_DIR": str(folder / "jitcache"), "CCACHE_DIR": str(folder / "ccache")}
        compiler = shutil.which("g++" if source.endswith(".cpp") else "gcc") or ""
        command = [compiler, "-O2", "-c", source, "-o", "f.o"]
        processors = {min(os.sched_getaffinity(0))} if one else os.sched_getaffinity(0)

        def new(text: str = text, numbers: Iterator[int] = numbers) -> str:
            return f"{text}int number_{next(numbers)};\n"

        found, ccache = [], tool("ccache")
        for name, before in (("compiler", []), ("ccache", [ccache]), ("jitcache", [_LAUNCHER, "run"])):
            if None in before:
                w.notes["not measured"]["ccache"] = "ccache is not installed"
                continue
            found.append(Contender(name, first_compile([*before, *command], env, folder, source, new, processors)))
        yield Series(f"{at}_1" if one else at, found, w.scale.slow)
        if '"hits_disk":0,' not in said([_LAUNCHER, "stats", "-json"], env).replace(" ", ""):
            raise BenchError(f"{at}: what was to be new was known")


def _memory(command: list[str], env: dict[str, str], folder: Path) -> float:
    """The most memory of a process, in MB."""
    meter = [sys.executable, "-I", "-S", "-c", _METER, *command]
    p = subprocess.run(meter, env=env, cwd=folder, capture_output=True, text=True, check=True)
    return int(p.stdout.split()[-1]) / 1024


def launch_memory(w: Workplace) -> Iterator[Series]:
    """An object of 400 MB: how much more memory than as itself it takes, new and known; in MB."""
    if (assembler := shutil.which("as")) is None:
        w.notes["not measured"]["launch_memory"] = "no as here"
        return
    folder, numbers = w.folder("launch-memory"), itertools.count()
    env = {**os.environ, "JITCACHE_DIR": str(folder / "jitcache")}

    def run() -> dict[str, float]:
        (folder / "z.s").write_text(f".data\n.byte {next(numbers) % 256}\n.zero {_LARGE}\n")
        command = [assembler, "z.s", "-o", "z.o"]
        found = {"as": _memory(command, env, folder)}
        for what in ("new", "known"):
            (folder / "z.o").unlink()
            found[f"{what}_more"] = _memory([_LAUNCHER, "run", *command], env, folder) - found["as"]
        return found

    yield Series("400m", [Contender("jitcache", run)], 3, warm=False)
