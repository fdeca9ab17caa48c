"""The demo: two real compilers, cold and from the cache, in fresh processes.

    make demo                                    everything
    python examples/demo/demo.py --only native   without CUDA

Four things that programs compile while they run: two GPU kernels by NVRTC, a
shared library and a Cython module by the C compiler. For each: a process that
finds nothing, a fresh process after it, which asks twice, and, once the entry is
removed again, four processes that ask at the same time. Then a solver in the
shape of underworld3's on four ranks of MPI, twice, `jitcache run gcc`, twice, and
the shared library on two machines that share a Redis. Every result is used and
checked. How often a compiler ran is counted on the compilers' side
(compile_log.py). If an input changed while something was compiled, because packages
are installed at the same time, the demo says which, and tries once more. The exit
status is 0 if each was compiled once and all was right.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "demo"

# A checkout's package and library, without an installation; workers and the
# jitcache command inherit them. No setting of the user's own cache applies.
sys.path[:0] = [str(ROOT / "python"), str(ROOT)]
for _name in [n for n in os.environ if n.startswith("JITCACHE")]:
    del os.environ[_name]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])

import compile_log
import jitcache.__main__
import launcher
import machines
import ranks
import wheels
from job import Wrong
from refusals import Refusals, write_down
from toolchain import BELLS, Toolchain, ToolchainError
from worker import JOBS, Answer, Worker, WorkerError, serve

import build_steps

CUDA = ("saxpy", "block_sums")
NATIVE = ("residual", "newton")
RANKS = "ranks"
LAUNCHER = "launcher"
MACHINES = "machines"
AT_ONCE = 4


class Row(NamedTuple):
    """A line of the table, and what went wrong."""

    cells: list[str]
    file: str
    problems: list[str]


def duration(seconds: float) -> str:
    """Return a time as text for people."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.{2 if seconds < 10 * size else 0}f} {unit}"
    return f"{seconds * 1e6:.0f} us"


def jitcache_command(*args: str) -> str:
    """Run the ``jitcache`` command and return what it prints."""
    command = [sys.executable, "-m", "jitcache", *args]
    p = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if p.returncode != 0:
        raise WorkerError(f"jitcache {' '.join(args)}: exit status {p.returncode}")
    return p.stdout.rstrip("\n")


def at_once(settings: Path, name: str) -> list[Answer]:
    """Start several new processes that ask at the same time."""
    workers = [Worker(settings, name, wait=True) for _ in range(AT_ONCE)]
    answers: list[list[Answer]] = []
    problems: list[WorkerError] = []

    def collect(worker: Worker) -> None:
        try:
            answers.append(worker.answers())
        except WorkerError as e:
            problems.append(e)

    threads = [threading.Thread(target=collect, args=(w,)) for w in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if problems:
        raise problems[0]
    return [a for several in answers for a in several]


def remove(key: jitcache.Key) -> str:
    """Remove an entry; return the path that it had, "" if there was none."""
    with jitcache.Cache() as cache:
        if key not in cache:
            return ""
    file = os.path.relpath(jitcache_command("path", key.hex))
    jitcache_command("rm", key.hex)
    return file


def attempt(name: str, toolchain: Toolchain, settings: Path, bells: compile_log.Bells) -> Row:
    """Compile one job cold, warm and in several processes at once; return its row."""
    job = JOBS[name](toolchain)
    remove(job.key())  # what an attempt before has left
    seen = [bells.count(job.file_name)]  # how many compiles the log had before, and after each phase

    def look() -> None:
        seen.append(bells.count(job.file_name))

    (cold,) = Worker(settings, name).answers()
    look()
    disk, memory = Worker(settings, name, requests=2).answers()
    look()
    file = remove(job.key())
    together = at_once(settings, name)
    look()

    compiles = [after - before for before, after in zip(seen, seen[1:])]
    problems = []
    if compiles != [1, 0, 1]:
        problems.append(f"{name}: {compiles} compiles, expected [1, 0, 1]")
    if not cold.compiled or disk.compiled or memory.compiled or sum(a.compiled for a in together) != 1:
        problems.append(f"{name}: the processes that compiled are not those that should")
    if any(len({a.digest for a in group}) != 1 for group in ([cold, disk, memory], together)):
        problems.append(f"{name}: processes got different code")
    cells = [job.title, *(duration(a.seconds) for a in (cold, disk, memory))]
    cells += [duration(max(a.seconds for a in together)), "+".join(map(str, compiles)), cold.checked]
    return Row(cells, f"{job.file_name:14}{file or 'was not kept'}", problems)


def measure(name: str, toolchain: Toolchain, settings: Path, bells: compile_log.Bells, refusals: Refusals) -> Row:
    """Return the row of a job; try once more if something went wrong because an input changed."""
    row = attempt(name, toolchain, settings, bells)
    refused = refusals.new()
    if row.problems and refused.changed:
        for reason in refused.reasons:
            print(f"not kept: {reason}")
        print(f"{name}: an input changed during the compile, so this is tried once more", flush=True)
        row = attempt(name, toolchain, settings, bells)
        refused = refusals.new()
    return Row(row.cells, row.file, [*row.problems, *(f"not kept: {reason}" for reason in refused.reasons)])


def prepare(names: list[str], folder: Path) -> Toolchain:
    """Find or install the compilers of the jobs; drop the names of jobs that cannot run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cache", "solver-cache"):  # of the last run
        shutil.rmtree(folder / name, ignore_errors=True)
    log = folder / "compiles.log"
    log.unlink(missing_ok=True)
    toolchain = Toolchain(cache=str(folder / "cache"), log=str(log))
    native, cuda = set(names) & {*NATIVE, RANKS, MACHINES}, set(names) & set(CUDA)
    cython = [name for name in ("newton", RANKS) if name in names]
    wheels.require([*(["Cython"] if cython else []), *(["nvidia-"] if cuda else [])])
    if native:
        toolchain.find_cc(folder)
        print(f"C compiler  {toolchain.cc_version}")
    if cython:
        toolchain.find_cython()
        print(f"Cython      {toolchain.cython}")
        if not toolchain.python_headers:
            print("            left out: this Python came without Python.h (Debian: python3-dev)")
            names[:] = [name for name in names if name not in cython]
    if RANKS in names:
        why = ranks.missing(toolchain)
        print(f"MPI         {'left out, ' + why if why else 'MPICH ' + str(wheels.version('mpich'))}")
        if why:
            names.remove(RANKS)
    if cuda:
        toolchain.find_cuda(folder)
        print(f"NVRTC       {toolchain.nvrtc_version}, for sm_{toolchain.arch}")
        print(f"GPU         {toolchain.gpu or toolchain.no_launch + ': cubin not launched'}")
        if toolchain.gpu and toolchain.no_launch:
            print(f"            {toolchain.no_launch}: cubin not launched")
    return toolchain


def show(rows: list[list[str]]) -> None:
    """Print a table; the first row is its head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:-1], widths[1:])), row[-1]]
        print("  ".join(cells))


def report(rows: list[Row], toolchain: Toolchain) -> None:
    """Print the measurements, the folders, and the cache's own figures."""
    head = ["what", "cold", "fresh process", "same process", f"{AT_ONCE} at once", "compiles", "result"]
    show([head, *(row.cells for row in rows)])
    print(
        f"""
Times run from opening the cache (in the same process: from asking) to having the
code; of {AT_ONCE} processes at once it is the last one's. Compiles are those in the first
process + in the fresh process, which asked twice + in {AT_ONCE} processes at once, with the
entry removed before. They were counted on the compilers' side:
{os.path.relpath(toolchain.log)}

entries"""
    )
    for row in rows:
        print(f"  {row.file}")
    # As it can be typed: the command is not in PATH, and the user's own cache is another.
    typed = f"JITCACHE_DIR={os.path.relpath(toolchain.cache)} {os.path.relpath(jitcache.__main__.program())} stats"
    print(f"\n$ {typed}\n{jitcache_command('stats')}\n")


def solve(toolchain: Toolchain, bells: compile_log.Bells) -> list[str]:
    """Run the solver on its ranks twice, print what happened, and return what was wrong."""
    with build_steps.step(f"solving on {ranks.RANKS} ranks, twice"):
        first, second = ranks.run(toolchain, bells), ranks.run(toolchain, bells)
    print(
        f"""mpirun -np {ranks.RANKS} {os.path.relpath(ranks.SOLVER)}
  first   {first.compiles} compiles, {first.right} right results, functions after {duration(first.functions)}
  second  {second.compiles} compiles, {second.right} right results, functions after {duration(second.functions)}
"""
    )
    return ranks.problems(first, second)


def launch(folder: Path) -> list[str]:
    """Run a compiler through the launcher twice, print what happened, and return what was wrong."""
    why = launcher.missing()
    if why:
        print(f"jitcache run left out: {why}\n")
        return []
    with build_steps.step("launching gcc, twice"):
        first, second = (launcher.run(folder / "launched") for _ in range(2))
    found = launcher.problems(first, second)
    again = "another file" if first.library != second.library else "the same file"
    print(
        f"""jitcache run gcc -O2 -shared -fPIC norm.c -o norm.so -lm
  first   {duration(first.seconds)}
  second  {duration(second.seconds)}, {again}
"""
    )
    return found


def share(folder: Path, settings: Path, bells: compile_log.Bells, toolchain: Toolchain) -> list[str]:
    """Compile on two machines that share a remote, print what happened, and return what was wrong."""
    with build_steps.step("compiling on two machines"):
        what, runs = machines.run(folder / "machines", settings, bells, toolchain)
    first, second = runs
    print(
        f"""two machines, and {what}
  first   {first.compiles} compiles, {duration(first.seconds)}
  second  {second.compiles} compiles, {duration(second.seconds)}
"""
    )
    return machines.problems(runs)


def run(names: list[str], folder: Path) -> int:
    """Run the demo; return the exit status."""
    toolchain = prepare(names, folder)
    if not names:
        return 1
    os.environ["JITCACHE_DIR"] = toolchain.cache
    os.environ["JITCACHE_NVRTC"] = toolchain.nvrtc
    write_down(toolchain.cache)
    refusals = Refusals(toolchain.cache)
    settings = folder / "toolchain.json"
    toolchain.save(settings)
    print(f"cache       {os.path.relpath(toolchain.cache)}\n", flush=True)
    jobs = [name for name in names if name in JOBS]
    sources = [*(JOBS[name].file_name for name in {*jobs, machines.JOB}), ranks.SOURCE]
    bells = compile_log.Bells(folder / BELLS, sources, Path(toolchain.log))
    rows = []
    for name in jobs:
        with build_steps.step(f"compiling {JOBS[name].file_name}, cold, warm and four times at once"):
            rows.append(measure(name, toolchain, settings, bells, refusals))
    if rows:
        report(rows, toolchain)
    problems = [p for row in rows for p in row.problems]
    if RANKS in names:
        problems += solve(toolchain, bells)
    if LAUNCHER in names:
        problems += launch(folder)
    if MACHINES in names:
        problems += share(folder, settings, bells, toolchain)
    if problems:
        problems += [f"not kept: {reason}" for reason in refusals.new().reasons]
    for p in problems:
        print(f"FAILED: {p}")
    if not problems:
        print("Each was compiled once, every result is right.")
    return 1 if problems else 0


def main() -> int:
    """Read the arguments; run the demo, or one of its workers."""
    parser = argparse.ArgumentParser(description="Two real compilers, cold and from the cache.")
    known = ", ".join([*JOBS, RANKS, LAUNCHER, MACHINES])
    parser.add_argument("--only", metavar="NAMES", help=f"cuda, native, or of {known}; several with commas")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write; default build/demo")
    for hidden in ("--worker", "--settings"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--requests", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--wait", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.worker:
        try:
            serve(a.settings, a.worker, a.requests, a.wait)
        except Wrong as e:
            print(e, file=sys.stderr)
            return 1
        return 0
    wanted = (a.only or "cuda,native,ranks,launcher,machines").split(",")
    groups = {"cuda": CUDA, "native": NATIVE}
    names = [n for word in wanted for n in groups.get(word, (word,))]
    if not set(names) <= {*JOBS, RANKS, LAUNCHER, MACHINES}:
        parser.error(f"--only: want cuda, native, or of {known}")
    if a.folder != FOLDER and a.folder.exists() and any(a.folder.iterdir()):
        parser.error("--folder: want a new or empty one")
    build_steps.show()
    usable, why = jitcache.available()
    if not usable:
        print(f"demo: {why}", file=sys.stderr)
        return 1
    try:
        return run(names, a.folder.resolve())
    except (wheels.WheelError, ToolchainError, WorkerError, ranks.RanksError) as e:
        print(f"demo: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
