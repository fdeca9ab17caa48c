"""A solver on four ranks: eighteen functions, compiled by one of them, and by none the next time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import wheels
from toolchain import Toolchain

if TYPE_CHECKING:
    import compile_log

SOLVER = Path(__file__).resolve().parents[1] / "underworld3_shaped" / "solver.py"
RANKS = 4
SOURCE = "cy_ext.c"  # what Cython makes of the solver's functions
_PATIENCE = 300  # seconds


class RanksError(Exception):
    """A job of ranks failed; the text is the end of what it printed."""


class Run(NamedTuple):
    """What a job did."""

    seconds: float  # of all of it
    functions: float  # until the last rank had its functions
    compiles: int
    right: int  # ranks whose results are Python's


def missing(toolchain: Toolchain) -> str:
    """Install what is missing; return what cannot be installed, "" if nothing is missing any more."""
    if not toolchain.python_headers:
        return "this Python came without Python.h"
    if "zig" in toolchain.cc_version or any("ziglang" in f for f in toolchain.cc_files):
        return "zig keeps files of its own, so what it makes is compiled each time"
    try:
        wheels.require(["mpi4py", "mpich", "setuptools"])
    except wheels.WheelError as e:
        return f"no MPI: {e}"
    return "" if _mpirun().exists() else f"no MPI: {_mpirun()} is not there"


def _mpirun() -> Path:
    return Path(sys.executable).parent / "mpirun"


def run(toolchain: Toolchain, bells: compile_log.Bells) -> Run:
    """Run the job once. Raises RanksError."""
    env = {**os.environ, "CC": toolchain.cc, "UW_JIT_CACHE_DIR": str(Path(toolchain.cache).with_name("solver-cache"))}
    before = bells.count(SOURCE)
    start = time.perf_counter()
    command = [str(_mpirun()), "-np", str(RANKS), sys.executable, str(SOLVER)]
    try:
        p = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise RanksError(f"no answer after {_PATIENCE} seconds") from None
    seconds = time.perf_counter() - start
    if p.returncode != 0:
        raise RanksError(f"mpirun: exit status {p.returncode}\n{(p.stdout + p.stderr).strip()[-4000:]}")
    said = [json.loads(line) for line in p.stdout.splitlines() if line.startswith("{")]
    return Run(seconds, max(line["seconds"] for line in said), bells.count(SOURCE) - before, len(said))


def problems(first: Run, second: Run) -> list[str]:
    """Return what went wrong."""
    found = []
    if [first.compiles, second.compiles] != [1, 0]:
        found.append(f"ranks: {[first.compiles, second.compiles]} compiles, expected [1, 0]")
    if {first.right, second.right} != {RANKS}:
        found.append(f"ranks: {first.right} and {second.right} right results, expected {RANKS}")
    return found
