"""A fleet of small processes on one remote: how often it compiles, how long it takes, how long a process waits.

    .venv/bin/python tests/remotes/fleet.py [--docs]

measures fleets of 10 to 1,000 processes on a Redis and on an S3 server, writes the figures to build/fleet.json, with
--docs to docs/fleet.json, and draws docs/pictures/fleet.svg from that.

The processes are fleet_process.c. Fifty of them at most share a machine: a directory and a helper. The compile is a
pause, so that processors are left for what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / part) for part in ("", "python", "tests", "tests/python")]

import compilers
from remotes import Machine, Redis

SIZES = [10, 30, 100, 300, 1000]
KEYS = 200
#: Larger fleets are measured in a build without budget.
OF_THE_BUILD = 100
#: What a compile takes.
SECONDS = 4.0
#: A wait for a compile is so many times that compile at most.
WAIT = 1.2
#: What each process of a processor may add, in seconds, to the time until the last one has all keys.
A_PROCESS = 0.01
#: How many processes share a machine, at most.
OF_A_MACHINE = 50
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "user", "AWS_SECRET_ACCESS_KEY": "secret"}


class Measured(NamedTuple):
    """What a fleet did."""

    engine: str
    processes: int
    machines: int
    keys: int
    compile: float  # seconds
    compiles: int
    last: float  # seconds from the start of all until the last one has all keys
    beyond: float  # seconds of them after the last compile
    waited: float  # seconds, the longest wait of a process for a key


def program(folder: Path, library: Path) -> Path:
    """Build fleet_process.c, and return the program."""
    built = folder / "fleet_process"
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", f"-I{ROOT / 'include'}", f"-L{library.parent}"]
    source = str(HERE / "fleet_process.c")
    subprocess.run([*compilers.c(), *flags, "-o", str(built), source, "-ljitcache"], check=True)
    return built


def library() -> Path:
    """Return the library that is measured."""
    return Path(os.environ.get("JITCACHE_LIBRARY") or ROOT / "build" / "lib" / "libjitcache.so")


def without_budget() -> Path:
    """Build the library without the bound on what remotes may cost: many processes spend it waiting for a processor."""
    from areas import without

    return without.library(ROOT / "build" / "controls" / "no-budget-fleet", "nobudget")


def measure(folder: Path, engine: str, url: str, processes: int, keys: int, seconds: float, **env: str) -> Measured:
    """Let a fleet that has nothing compile all keys."""
    count = max(2, -(-processes // OF_A_MACHINE))
    machines = [Machine(folder, f"{engine}{processes}-{n}", url, **env) for n in range(count)]
    built, said = program(folder, library()), folder / f"{engine}{processes}.said"
    words = [str(built), str(keys), str(round(seconds * 1000))]
    held, go = os.pipe()
    try:
        with said.open("ab") as out:
            for n in range(processes):
                m = machines[n % count]
                of_all = {**os.environ, **m.env, "LD_LIBRARY_PATH": str(library().parent)}
                m.started.append(subprocess.Popen([*words, str(n)], stdin=held, stdout=out, env=of_all))
        end = time.monotonic() + 60 + processes / 2
        while said.read_text().count("ready") < processes:
            assert time.monotonic() < end, "not all processes are ready"
            time.sleep(0.2)
        began = time.monotonic()
        os.close(go)
        go = -1
        for m in machines:
            for p in m.started:
                assert p.wait(timeout=600) == 0
    finally:
        os.close(held)
        if go >= 0:
            os.close(go)
        for m in machines:
            m.end()
    lines = [line.split() for line in said.read_text().splitlines()]
    done = [(int(line[1]) / 1e9, int(line[2]) / 1e9) for line in lines if line[0] == "done"]
    assert len(done) == processes
    compiled = {line[1]: int(line[2]) / 1e9 for line in lines if line[0] == "compiled"}
    compiles = sum(line[0] == "compiled" for line in lines)
    assert len(compiled) == keys
    end = max(at for at, _ in done)
    beyond = end - max(compiled.values())
    return Measured(
        engine, processes, count, keys, seconds, compiles, end - began, beyond, max(waited for _, waited in done)
    )


@contextmanager
def served(folder: Path, engine: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Start an engine; yield its URL, and variables."""
    from test_remote import UNSIGNED, gateway

    if engine == "Redis":
        redis = Redis(folder)
        try:
            yield redis.url + UNSIGNED, {}
        finally:
            redis.stop()
        return
    process, url = gateway(folder)
    try:
        yield url + UNSIGNED, CREDENTIALS
    finally:
        process.kill()
        process.wait()


def bounds_missed(rows: list[Measured]) -> list[str]:
    """Say which bounds fleets have missed."""
    wrong = []
    for r in rows:
        said = f"{r.engine}, {r.processes:,} processes"
        if r.compiles != r.keys:
            wrong.append(f"{said}: {r.compiles} compiles of {r.keys} keys")
        if r.waited > WAIT * r.compile:
            wrong.append(f"{said}: a process waited {r.waited:.1f} s for a compile of {r.compile:g} s")
        most = bound(r.processes, r.compile)
        if r.beyond > most:
            wrong.append(
                f"{said}: the last one had all keys {r.beyond:.1f} s after the last compile, and not {most:.1f} s"
            )
    return wrong


def bound(processes: int, seconds: float) -> float:
    """Return how long after the last compile the last process may have all keys: linear in processes per processor."""
    return (WAIT - 1) * seconds + A_PROCESS * processes / (os.cpu_count() or 1)


def main() -> int:
    folder_of_docs = ROOT / "docs" if "--docs" in sys.argv else ROOT / "build"
    rows: list[Measured] = []
    load = os.getloadavg()[0]
    for engine in ("Redis", "S3"):
        for processes in SIZES:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                if processes > OF_THE_BUILD:
                    os.environ["JITCACHE_LIBRARY"] = str(without_budget())
                else:
                    os.environ.pop("JITCACHE_LIBRARY", None)
                with served(folder, engine) as (url, env):
                    rows.append(measure(folder, engine, url, processes, KEYS, SECONDS, **env))
            print(rows[-1], flush=True)
    about: dict[str, Any] = {
        "wait": WAIT, "a_process": A_PROCESS,
        "date": time.strftime("%Y-%m-%d", time.gmtime()), "processors": os.cpu_count(), "load": [round(load, 1), round(os.getloadavg()[0], 1)],
    }  # fmt: skip
    missed = bounds_missed(rows)
    text = json.dumps({**about, "missed": missed, "fleets": [r._asdict() for r in rows]}, indent=1)
    (folder_of_docs / "fleet.json").write_text(text + "\n")
    print("\n".join(missed) or "no bound is missed")
    if "--docs" in sys.argv:
        import fleet_picture

        fleet_picture.draw(folder_of_docs / "fleet.json", folder_of_docs / "pictures" / "fleet.svg")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
