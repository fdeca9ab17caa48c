"""``jitcache run gcc``: a compile and link in one call, twice, with no code changed."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "#include <math.h>\ndouble norm(double x, double y) { return sqrt(x * x + y * y); }\n"


class Run(NamedTuple):
    """The result of a command."""

    seconds: float
    library: bytes
    right: bool


def missing() -> str:
    """Return what is missing, "" if nothing is."""
    if shutil.which("gcc") is None:
        return "there is no gcc"
    return "" if _program().exists() else f"{os.path.relpath(_program())} is not built"


def _program() -> Path:
    return ROOT / "build" / "lib" / "jitcache"


def _command() -> list[str]:
    # The linker puts a random number into each library, so equal libraries were made
    # once. The launcher's own figures are not needed to tell.
    words = ["gcc", "-O2", "-shared", "-fPIC", "norm.c", "-o", "norm.so", "-lm", "-Wl,--build-id=uuid"]
    return [str(_program()), "run", *words]


def run(folder: Path) -> Run:
    """Build the library in an empty folder, and use it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "norm.c").write_text(SOURCE)
    start = time.perf_counter()
    subprocess.run(_command(), cwd=folder, check=True)
    seconds = time.perf_counter() - start
    library = folder / "norm.so"
    norm = ctypes.CDLL(str(library)).norm
    norm.argtypes, norm.restype = [ctypes.c_double] * 2, ctypes.c_double
    return Run(seconds, library.read_bytes(), norm(3.0, 4.0) == 5.0)


def problems(first: Run, second: Run) -> list[str]:
    """Return what was wrong."""
    found = [] if first.right and second.right else ["launcher: a library computes a wrong result"]
    return found if first.library == second.library else [*found, "launcher: gcc was run twice"]
