"""Rows about launchers: a compile that is known, as a build asks for it: a process each."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import ground
from rows_native import STL, C
from runs import BenchError, Contender, Series
from workplace import Workplace

#: Processes of a round, one after the other; compilers are slow, and run once in each.
_TOGETHER = 20


def each(
    command: list[str], env: dict[str, str] | Iterator[dict[str, str]], folder: Path, times: int = _TOGETHER
) -> Callable[[], float]:
    """Return a round: from the start of a process to its end, without Python's own part in it.

    Of an iterator each process has the next environment.
    """
    envs = itertools.repeat(env) if isinstance(env, dict) else env

    def run() -> float:
        here = os.getcwd()
        os.chdir(folder)
        try:
            start = time.perf_counter_ns()
            for _ in range(times):
                child = os.posix_spawn(command[0], command, next(envs))
                if os.waitpid(child, 0)[1] != 0:
                    raise BenchError(f"{command[0]} has failed")
            return (time.perf_counter_ns() - start) / 1e3 / times
        finally:
            os.chdir(here)

    return run


def tool(name: str) -> str | None:
    """The one of PyPI, else the machine's."""
    own = Path(sys.executable).parent / name
    return str(own) if own.exists() else shutil.which(name)


def said(command: list[str], env: dict[str, Any]) -> str:
    """What a command prints."""
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout


def launch_hit(w: Workplace) -> Iterator[Series]:
    """An object that is known: through jitcache run, ccache and sccache, beside the start of an empty program."""
    if shutil.which("gcc") is None or shutil.which("g++") is None:
        w.notes["not measured"]["launch"] = "no gcc here"
        return
    launcher, ccache, sccache = str(ground.ROOT / "build" / "lib" / "jitcache"), tool("ccache"), tool("sccache")
    for at, name, text in (("c", "f.c", C), ("stl", "f.cpp", STL)):
        folder = w.folder(f"launch-{at}")
        (folder / name).write_text(text)
        env = {**os.environ, "JITCACHE_DIR": str(folder / "jitcache"), "CCACHE_DIR": str(folder / "ccache")}
        env |= {"SCCACHE_DIR": str(folder / "sccache"), "SCCACHE_SERVER_UDS": str(folder / "s")}
        compiler = shutil.which("g++" if name.endswith(".cpp") else "gcc") or ""
        command = [compiler, "-O2", "-c", name, "-o", "f.o"]
        time.sleep(0.1)  # or ccache finds the source too new
        found = [
            Contender("true", each(["/bin/true"], env, folder)),
            Contender("compiler", each(command, env, folder, 1)),
        ]
        for rival, before in (("ccache", [ccache]), ("sccache", [sccache]), ("jitcache", [launcher, "run"])):
            if before[0] is None:
                w.notes["not measured"][rival] = f"{rival} is not installed"
                continue
            # A file of its own for each: they leave it with other permissions.
            run = each([*before, *command[:-1], f"{rival}.o"], env, folder)  # type: ignore[list-item]
            run()
            found.append(Contender(rival, run))
        yield Series(at, found, w.scale.slow)
        if sccache:
            subprocess.run([sccache, "--stop-server"], env=env, capture_output=True, check=False)
        if ccache and "local_storage_hit\t0" in said([ccache, "--print-stats"], env):
            raise BenchError(f"{at}: ccache does not hit")
        if '"misses":1,' not in said([launcher, "stats", "-json"], env).replace(" ", ""):
            raise BenchError(f"{at}: jitcache run does not hit")
