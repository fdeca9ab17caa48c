"""Real packages, with their own use of Numba's cache and with everything cached: compiles and seconds.

    python examples/numba/packages.py [--docs] [--rounds N] [NAME]...

Each NAME is a function of workloads.py, by default all whose package is installed. It
runs in four processes: two with Numba's own cache, as the package sets it up, and two with
JITCACHE_NUMBA=everything. Of each two, the first has an empty cache, the second what the
first has left. Cold processes take turns in N rounds, default 1, and the fastest of each
counts. A compile is a function that Numba lowers to machine code, by Numba's own events.
Seconds are those of the processor for the whole process, with all imports: other work on
the machine changes them less than it changes the time on the clock.

Prints the table; --docs puts it, with the rows that were measured before, into
docs/numba.md. The exit status is 0 if all results
are the same, to the bit but for those with a tolerance, and no warm process compiles
anything without a reason.
"""

from __future__ import annotations

import argparse
import os
import pickle
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "packages"
DOCS = ROOT / "docs" / "numba.md"
BEGIN, END = "<!-- packages.py -->\n", "<!-- -->\n"


class Work(NamedTuple):
    """A row of the table: a function of workloads.py, what it shows, and how near its results have to be."""

    function: str
    distribution: str
    what: str
    tolerance: float = 0.0  # relative; those of parallel sums have no fixed order


WORKS = (
    Work("quantecon_three", "quantecon", "three calls"),
    Work("quantecon_eight", "quantecon", "eight calls"),
    Work("stumpy", "stumpy", "two calls", 1e-9),
    Work("librosa", "librosa", "eight calls"),
    Work("numbagg", "numbagg", "two calls", 1e-12),
    Work("umap", "umap-learn", "one embedding"),
    Work("pynndescent", "pynndescent", "an index, a query"),
    Work("tsfresh", "tsfresh", "two features", 1e-9),
    Work("datashader", "datashader", "points, lines, shading"),
    Work("hapsira", "hapsira", "an orbit, a transfer"),
)

HEAD = "| package | cold | Numba's own, warm | everything, warm | cold by cold |\n| --- | --- | --- | --- | --- |\n"

# Of passes: each function that is compiled goes through one of them.
LOWERING = ("native_lowering ", "native_parfor_lowering ", "object_mode_back_end ")


def work(name: str, out: str) -> None:
    """Be one process."""
    from numba.core import event

    # Numba's own, for while a listener of others listens, nothing is found by its source alone.
    passes = event.RecordingListener()
    event.register("numba:run_pass", passes)
    import workloads

    results = getattr(workloads, name)()
    seconds, refused = time.process_time(), {}
    began = [e.data for _, e in passes.buffer if e.is_start and str(e.data["name"]).startswith(LOWERING)]
    compiled = [f"{data['module']}.{data['qualname']}" for data in began]
    if "jitcache.adapters.numba" in sys.modules:
        refused = sys.modules["jitcache.adapters.numba"].uncached()
    Path(out).write_bytes(pickle.dumps((results, seconds, compiled, refused)))


class Ran(NamedTuple):
    """What a process gave."""

    results: list[Any]
    seconds: float
    compiled: list[str]
    refused: dict[str, int]


def process(python: str, name: str, **env: str) -> Ran:
    """Start a process and return what it gave."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE", "NUMBA_", "PYTHON"))}
    path = os.pathsep.join([str(ROOT / "tests" / "numba" / "startup"), str(HERE), str(ROOT / "python")])
    out = FOLDER / name / "out"
    command = [python, __file__, "--work", name, str(out)]
    p = subprocess.run(
        command, env={**clean, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **env},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if p.returncode != 0:
        raise SystemExit(f"packages: {name}: {p.stdout.strip().splitlines()[-1]}")
    return Ran(*pickle.loads(out.read_bytes()))


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two results are the same, to the bit without a tolerance."""
    import numpy as np

    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if tolerance and a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
    return a.tobytes() == b.tobytes()


class Row(NamedTuple):
    """What became of one piece of work."""

    text: str
    problems: list[str]
    warm: list[str]  # what the warm process compiled


def measure(python: str, work: Work, rounds: int = 1) -> Row:
    """Run the processes of a row."""
    places = {cache: FOLDER / work.function / cache for cache in ("own", "everything")}
    envs = {
        "own": {"NUMBA_CACHE_DIR": str(places["own"])},
        "everything": {"JITCACHE_DIR": str(places["everything"]), "JITCACHE_NUMBA": "everything"},
    }
    ran: dict[tuple[str, str], Ran] = {}
    (FOLDER / work.function).mkdir(parents=True, exist_ok=True)
    for _ in range(rounds):
        for cache, place in places.items():
            shutil.rmtree(place, ignore_errors=True)
            cold = process(python, work.function, **envs[cache])
            ran[cache, "cold"] = min(cold, ran.get((cache, "cold"), cold), key=lambda r: r.seconds)
    for cache in places:
        ran[cache, "warm"] = process(python, work.function, **envs[cache])
    own, ours = ran["own", "warm"], ran["everything", "warm"]
    first, cold = ran["own", "cold"], ran["everything", "cold"]
    name = f"{work.distribution} {metadata_of(python, work.distribution)}, {work.what}"
    ratio = cold.seconds / first.seconds
    why = f" ({', '.join(f'`{reason}`: {n}' for reason, n in ours.refused.items())})" if ours.compiled else ""
    text = (
        f"| {name} | {len(first.compiled)}, {first.seconds:.1f} s | {len(own.compiled)}, {own.seconds:.1f} s "
        f"| {len(ours.compiled)}, {ours.seconds:.1f} s{why} | {ratio:.2f} |"
    )
    print(text, flush=True)
    (FOLDER / work.function / "row").write_text(text)
    wrong = [p for p, r in ran.items() if not same(r.results, first.results, work.tolerance)]
    problems = [f"{name}: {p} results differ" for p in wrong]
    if ours.compiled and not ours.refused:
        problems.append(f"{name}: warm, compiled {', '.join(sorted(set(ours.compiled))[:10])}: {ours.refused}")
    if not cold.compiled or not first.compiled:
        problems.append(f"{name}: nothing was compiled in the cold processes")
    return Row(text, problems, ours.compiled)


def metadata_of(python: str, distribution: str) -> str:
    """Return a distribution's version, empty if it is not there."""
    code = f"from importlib import metadata; print(metadata.version({distribution!r}))"
    p = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return p.stdout.strip()


def machine() -> str:
    """Say on what and beside what it was measured."""
    with open("/proc/cpuinfo") as f:
        models = {line.partition(":")[2].strip() for line in f if line.startswith("model name")}
    load = os.getloadavg()[1]
    busy = "loaded by others" if load > 2 * (os.cpu_count() or 1) else "not loaded"
    here = f"{os.cpu_count()} cores of {', '.join(sorted(models))}, {busy} (load average {load:.1f})"
    return f"{here}, Python {platform.python_version()}"


def main() -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    works = [w for w in WORKS if not args.names or w.function in args.names]
    unknown = set(args.names) - {w.function for w in WORKS}
    if unknown:
        parser.error(f"want of {', '.join(w.function for w in WORKS)}, not {', '.join(sorted(unknown))}")
    rows = []
    for w in works:
        if metadata_of(args.python, w.distribution):
            rows.append(measure(args.python, w, args.rounds))
        else:
            print(f"packages: {w.distribution} is missing; pip install {w.distribution}")
    problems = [problem for row in rows for problem in row.problems]
    if args.docs:
        put(metadata_of(args.python, "numba"))
    for problem in problems:
        print(f"FAILED: {problem}")
    if rows and not problems:
        print("\nEach was compiled once, every result is right.")
    return 1 if problems or not rows else 0


def put(numba: str) -> None:
    """Put the table into the page."""
    measured = [FOLDER / w.function / "row" for w in WORKS]
    table = (
        HEAD + "\n".join(path.read_text() for path in measured if path.exists()) + f"\n\nNumba {numba}, {machine()}.\n"
    )
    before, _, rest = DOCS.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    DOCS.write_text(before + BEGIN + table + END + after)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        sys.exit(main())
