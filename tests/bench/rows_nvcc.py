"""Rows about nvcc, which starts a dozen programs for an object: known and new, through jitcache run and ccache."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ground
import venvs
from rows_launch import each, said, tool
from rows_launch_first import first_compile
from runs import BenchError, Contender, Series
from workplace import Workplace

#: As the tests of nvcc have it (tests/areas/launch.py).
PACKAGES = (
    "nvidia-cuda-nvcc==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-cccl==13.3.5.0.6",
)

SOURCE = """#include <cstdio>
__global__ void scale(float *x) { x[threadIdx.x] *= 2; }
void launch(float *x) { scale<<<1, 32>>>(x); }
"""

#: Hits of a round, one after the other.
_TOGETHER = 20

_LAUNCHER = str(ground.ROOT / "build" / "lib" / "jitcache")


class _Toolkit(NamedTuple):
    """A folder with a source, nvcc's command for it, and the caches of both."""

    folder: Path
    command: list[str]
    env: dict[str, str]
    ccache: str

    def before(self) -> dict[str, list[str]]:
        """Return what stands before the command, by contender."""
        return {"ccache": [self.ccache], "jitcache": [_LAUNCHER, "run"]}


def _toolkit(w: Workplace, name: str) -> _Toolkit | None:
    """Return one, in which nothing is cached; None if something is missing, which is noted."""
    ccache = tool("ccache")
    if ccache is None or shutil.which("g++") is None:
        w.notes["not measured"]["nvcc"] = "there is no ccache or no g++"
        return None
    try:
        python = venvs.python_with("nvcc-13.5.37", *PACKAGES)
    except OSError as e:
        w.notes["not measured"]["nvcc"] = str(e)
        return None
    (nvcc,) = Path(python).parents[1].glob("lib/python*/site-packages/nvidia/cu13/bin/nvcc")
    folder = w.folder(name)
    (folder / "tmp").mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CCACHE", "NVCC", "CUDA"))}
    env |= {
        "JITCACHE_DIR": str(folder / "jitcache"),
        "CCACHE_DIR": str(folder / "ccache"),
        "TMPDIR": str(folder / "tmp"),
    }
    return _Toolkit(folder, [str(nvcc), "-arch=sm_90", "-c", "a.cu", "-o", "a.o"], env, ccache)


def nvcc_hit(w: Workplace) -> Iterator[Series]:
    """An object of nvcc that is known, beside the start of an empty program."""
    t = _toolkit(w, "nvcc-hit")
    if t is None:
        return
    (t.folder / "a.cu").write_text(SOURCE)
    time.sleep(0.1)  # or ccache finds the source too new
    found = [Contender("true", each(["/bin/true"], t.env, t.folder))]
    for name, before in t.before().items():
        # A file of its own for each: they leave it with other permissions.
        command = [*before, *t.command[:-1], f"{name}.o"]
        for _ in range(2):  # the object is not there, and is there
            each(command, t.env, t.folder, 1)()
        found.append(Contender(name, each(command, t.env, t.folder, _TOGETHER)))
    yield Series("object", found, w.scale.slow)
    if "local_storage_hit\t0" in said([t.ccache, "--print-stats"], t.env):
        raise BenchError("nvcc: ccache does not hit")
    if '"misses":2,' not in said([_LAUNCHER, "stats", "-json"], t.env).replace(" ", ""):
        raise BenchError("nvcc: jitcache run does not hit")


def nvcc_first(w: Workplace) -> Iterator[Series]:
    """A new object, beside nvcc alone: the time, and what processors worked."""
    t = _toolkit(w, "nvcc-first")
    if t is None:
        return
    numbers = itertools.count()

    def new() -> str:
        return f"{SOURCE}int number_{next(numbers)};\n"

    processors, found = os.sched_getaffinity(0), []
    for name, before in {"nvcc": [], **t.before()}.items():
        found.append(Contender(name, first_compile([*before, *t.command], t.env, t.folder, "a.cu", new, processors)))
    yield Series("object", found, w.scale.slow)
    if '"hits_disk":0,' not in said([_LAUNCHER, "stats", "-json"], t.env).replace(" ", ""):
        raise BenchError("nvcc: what was to be new was known")
