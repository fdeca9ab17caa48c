"""Measure what design calls fast, beside the floor and beside other caches.

    python tests/bench/bench.py [--quick] [--only ROW]... [--docs] [--check]

bench.md, bench.json and bench.png are written to build/bench, with the raw samples
(raw.json). --docs writes the first three to docs/ and the figures of the README:
that is done for a release, in a full run, and not in between. --check only judges
docs/bench.json again. The status is 1 if a bound is missed by more than 20 %, or if
something could not be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import calls
import ground
import machine
import plot
import report
import rows_bundles
import rows_configure
import rows_cuda
import rows_cuda_core
import rows_cute
import rows_first
import rows_hits
import rows_launch
import rows_launch_first
import rows_launch_remote
import rows_layers
import rows_leases
import rows_native
import rows_nvcc
import rows_remotes
import rows_starts
import rows_threads
import rows_triton
import rows_writes
from runs import BenchError, Series, measure
from workplace import FULL, QUICK, SIZES, Workplace


class Row(NamedTuple):
    name: str
    title: str
    series: Callable[[Workplace], Iterator[Series]]


# In this order: the rows that write much come behind those that read, and the
# one that makes the library delete files comes last.
ROWS = [
    Row("memory_hit_c", "Hit in memory, from C", rows_hits.memory_hit_c),
    Row("memory_hit_view_python", "Hit in memory to a view, from Python", rows_hits.memory_hit_view_python),
    Row("memory_hit_bytes_python", "Hit in memory to bytes, from Python", rows_hits.memory_hit_bytes_python),
    Row("disk_hit_c", "Hit on disk, from C", rows_hits.disk_hit_c),
    Row("disk_hit_view_python", "Hit on disk to a view, from Python", rows_hits.disk_hit_view_python),
    Row("disk_hit_bytes_python", "Hit on disk to bytes, from Python", rows_hits.disk_hit_bytes_python),
    Row("hit_among_threads", "Hits of many threads", rows_threads.hit_among_threads),
    Row("layer_hit", "Hit in a layer", rows_layers.layer_hit),
    Row("signed_layer", "First hit in a layer that is signed: verified and copied", rows_layers.signed_layer),
    Row("bundle_add", "A bundle of signed entries: added, beside tar and zstd", rows_bundles.bundle_add),
    Row("remote_hit", "First hit in a Redis on loopback: checked and copied", rows_remotes.remote_hit),
    Row(
        "beside_remote",
        "Hit and miss in the own directory, with a remote that nobody answers for",
        rows_remotes.beside_remote,
    ),
    Row("miss", "Miss", rows_hits.miss),
    Row("key", "Key of a source", rows_writes.key),
    Row("process", "A process from its start to its first hit", rows_starts.process),
    Row("load", "First load of the library in a process", rows_starts.load),
    Row("put", "Put of 64 KB", rows_writes.put),
    Row("lease_pair", "Lease that nobody else wants, taken and given up", rows_leases.lease_pair),
    Row("lease_wake", "From a commit until who waits has the entry", rows_leases.lease_wake),
    Row("cuda_hit", "CUDA: from a source to its cubin, warm", rows_cuda.cuda_hit),
    Row("cuda_core_hit", "cuda.core: a warm call with its cache and with ours", rows_cuda_core.cuda_core_hit),
    Row("native_hit", "C, C++ and Cython: from sources to the result, warm", rows_native.native_hit),
    Row("first_compile", "C, C++ and CUDA: from sources to a result that is in no cache yet", rows_first.first_compile),
    Row("launch_hit", "Launchers: an object that is known, a process each", rows_launch.launch_hit),
    Row(
        "launch_first", "Launchers: an object that nobody has made yet, a process each", rows_launch_first.launch_first
    ),
    Row(
        "launch_configure",
        "Launchers: ./configure of a small package, first and again, processor time",
        rows_configure.launch_configure,
    ),
    Row("launch_memory", "Launchers: an object of 400 MB, memory", rows_launch_first.launch_memory),
    Row(
        "launch_remote",
        "Launchers: an object that a Redis has and this machine has not, a process each",
        rows_launch_remote.launch_remote,
    ),
    Row("nvcc_hit", "Launchers: an object of nvcc that is known, a process each", rows_nvcc.nvcc_hit),
    Row("nvcc_first", "Launchers: an object of nvcc that nobody has made yet, a process each", rows_nvcc.nvcc_first),
    Row("cuda_cub", "CUDA: the same for a kernel with 444 headers", rows_cuda.cuda_cub),
    Row("cute_hit", "CuTe DSL: a matrix product in a fresh process, after the import", rows_cute.cute_hit),
    Row("triton_remote", "Triton: a kernel that a Redis has and this machine has not", rows_triton.triton_remote),
    Row("open", "Open of a cache with a cap, by number of entries", rows_starts.opening),
    Row("system_calls", "System calls", calls.system_calls),
    Row("put_full", "Put into a full cache", rows_writes.put_full),
]

TEMPLATE = f"# Benchmarks\n\n{report.BEGIN}\n{report.END}\n"


def run(rows: list[Row], w: Workplace) -> report.Raw:
    raw: report.Raw = {}
    for row in rows:
        start = time.monotonic()
        raw[row.name] = {}
        for series in row.series(w):
            raw[row.name][series.at] = measure(series)
        print(f"{row.name:26}{time.monotonic() - start:7.1f} s", file=sys.stderr, flush=True)
    return raw


def conclude(doc: dict[str, Any]) -> int:
    """Print the bounds and what is missed, and return the exit status."""
    lines = report.judge(doc)
    print("\n".join(report.bounds_table(doc)))
    print("\n".join(lines) if lines else "No bound is missed.")
    missing = doc["notes"].get("not measured", {})
    for what, why in missing.items():
        print(f"Not measured: {what}: {why}")
    return int(bool(missing) or any(b.get("far_off") for b in doc["bounds"].values()))


def full_run(rows: list[Row], quick: bool, docs: Path) -> int:
    for name in [n for n in os.environ if n.startswith("JITCACHE")]:
        del os.environ[name]
    sys.path.insert(0, str(ground.ROOT / "python"))
    built = ground.prepare()
    w = Workplace(built, QUICK if quick else FULL)
    w.notes["not measured"] = dict(built.missing)
    about = machine.describe()
    before = os.getloadavg()[0]
    try:
        raw = run(rows, w)
    finally:
        w.clean()
    about["load"] = [round(before, 2), round(os.getloadavg()[0], 2)]
    (ground.OUT / "raw.json").write_text(json.dumps({"unit": "us", "rows": raw}))
    doc = report.document(raw, w.notes, about, {r.name: r.title for r in rows})
    report.write_json(docs / "bench.json", doc)
    report.write_markdown(docs / "bench.md", TEMPLATE, doc)
    if docs != ground.OUT:
        report.write_readme(ground.ROOT / "README.md", doc)
    hits = doc["figures_us"].get("disk_hit_bytes_python")
    if hits:
        plot.draw(hits, SIZES, docs / "bench.png")
    print("\n".join(report.figures_tables(doc) + report.notes_lines(doc)) + "\n")
    return conclude(doc)


def main() -> int:
    p = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    p.add_argument("--quick", action="store_true", help="fewer rounds and entries, about a minute")
    p.add_argument("--only", action="append", metavar="ROW", help=", ".join(r.name for r in ROWS))
    p.add_argument("--docs", action="store_true", help="write docs/ and the README's figures: for a release")
    p.add_argument("--check", action="store_true", help="judge docs/bench.json again")
    a = p.parse_args()
    docs = ground.ROOT / "docs"
    if a.check:
        return conclude(json.loads((docs / "bench.json").read_text()))
    unknown = set(a.only or ()) - {r.name for r in ROWS}
    if unknown:
        p.error(f"no row {', '.join(sorted(unknown))}")
    rows = [r for r in ROWS if not a.only or r.name in a.only]
    if a.docs and (a.quick or len(rows) < len(ROWS)):
        p.error("--docs is for a full run")
    try:
        return full_run(rows, a.quick, docs if a.docs else ground.OUT)
    except BenchError as e:
        print(f"bench: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
