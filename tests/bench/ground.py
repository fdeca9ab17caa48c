"""Set-up: the packages, and the programs in C and Go."""

from __future__ import annotations

import hashlib
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
OUT = ROOT / "build" / "bench"

sys.path.insert(0, str(ROOT))

import build_library

# The library's own flags, so that an empty call costs what an empty call of
# ours would.
_EMPTY_SCRIPT = "{ global: empty_*; local: *; };\n"


class Ground(NamedTuple):
    """What was built, and what could not be installed."""

    bench: Path  # the C program that takes commands
    first: Path
    fresh: Path
    sum: Path
    redis: Path
    relay: Path
    signatures: Path
    empty: Path  # a library
    library: Path
    missing: dict[str, str]  # package -> why


def install() -> dict[str, str]:
    """Install requirements.txt; return what could not be, and why."""
    wanted = HERE / "requirements.txt"
    stamp = OUT / "installed"
    mark = hashlib.sha256(wanted.read_bytes() + sys.executable.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == mark:
        return {}
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    missing = {}
    if subprocess.run([*pip, "-r", str(wanted)], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        for line in wanted.read_text().splitlines():
            name = line.partition("#")[0].strip()
            if not name:
                continue
            p = subprocess.run([*pip, name], check=False, capture_output=True, text=True)
            if p.returncode != 0:
                package = name.partition(";")[0].partition(">")[0].strip()
                missing[package] = (p.stderr.strip().splitlines() or ["pip failed"])[-1]
    if not missing:
        stamp.write_text(mark)
    importlib.invalidate_caches()
    return missing


def _run(command: list[str], env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=ROOT, env=env, check=True)


def _compile_c(cc: list[str], library: Path) -> None:
    include = ROOT / "build" / "include"
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-I", str(include)]
    link = [f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", "-ljitcache"]
    parts = [
        HERE / "c" / f"{n}.c" for n in ("main", "corpus", "floors", "hits", "tails", "puts", "keys", "opens", "leases")
    ]
    _run([*cc, *flags, "-o", str(OUT / "bench"), *map(str, parts), *link, "-lpthread", "-ldl"])
    _run([*cc, *flags, "-o", str(OUT / "fresh"), str(HERE / "c" / "fresh.c"), *link])
    _run([*cc, *flags, "-o", str(OUT / "relay"), str(HERE / "c" / "relay.c")])
    _run([*cc, *flags, "-o", str(OUT / "first"), str(HERE / "c" / "first.c"), "-ldl"])


def _compile_go(go: str, cc: list[str]) -> None:
    env = {**os.environ, "CGO_ENABLED": "1", "CC": " ".join(cc), "GOTOOLCHAIN": "local"}
    script = OUT / "empty.map"
    script.write_text(_EMPTY_SCRIPT)
    external = f"-Wl,--version-script={script} -Wl,-z,now -Wl,--build-id=sha1"
    linker = (
        f"-s -w -buildid= -X runtime.godebugDefault={build_library.readback.NO_PREEMPTION} -extldflags '{external}'"
    )
    common = [go, "build", "-trimpath", "-buildvcs=false"]
    _run(
        [*common, "-buildmode=c-shared", "-ldflags", linker, "-o", str(OUT / "libempty.so"), "./tests/bench/go/empty"],
        env,
    )
    for program in ("sum", "redis", "signatures"):
        _run([*common, "-o", str(OUT / program), f"./tests/bench/go/{program}"], env)


def prepare() -> Ground:
    """Install and compile everything."""
    OUT.mkdir(parents=True, exist_ok=True)
    library = ROOT / "build" / "lib" / "libjitcache.so"
    go, cc = build_library.find_go(), build_library.find_cc()
    if not library.exists() or go is None or cc is None:
        sys.exit("bench: run `make lib` first, or `make bench`, which does")
    missing = install()
    _compile_c(cc, library)
    _compile_go(go, cc)
    built = [OUT / n for n in ("bench", "first", "fresh", "sum", "redis", "relay", "signatures", "libempty.so")]
    return Ground(*built, library, missing)
