"""CUDA: with a fake NVRTC on any machine, with the real ones from their wheels, and on a GPU."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from . import c, control
from .common import BUILD, INSTALLING, Count, counted, environment, pytest, run, total
from .go import test

FOLDER = "tests/cuda"

#: NVIDIA's wheels: the compiler, and headers to compile. 11, 128 and 130 are for a few tests each:
#: 12.8 is the first with precompiled headers, and 13.0 has no path to its builtins.
WHEELS = {
    "11": ["nvidia-cuda-nvrtc-cu11==11.8.89"],
    "128": ["nvidia-cuda-nvrtc-cu12==12.8.93"],
    "130": ["nvidia-cuda-nvrtc==13.0.88"],
    "12": [
        "nvidia-cuda-nvrtc-cu12==12.9.86",
        "nvidia-cuda-cccl-cu12==12.9.27",
        "nvidia-cuda-runtime-cu12==12.9.79",
    ],
    "13": [
        "nvidia-cuda-nvrtc==13.5.37",
        "nvidia-cuda-cccl==13.3.5.0.6",
        "nvidia-cuda-runtime==13.5.37",
        "nvidia-cuda-crt==13.5.37",
    ],
}


def wheels(area: str, version: str) -> Path | None:
    """Return a folder with NVIDIA's wheels, installed from PyPI if necessary; None if that fails."""
    folder = BUILD / "cuda" / version
    ready = folder / "ready"
    want = "\n".join(WHEELS[version])
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--upgrade"]
    with INSTALLING:
        if not ready.exists() or ready.read_text() != want:
            status, _ = run(area, [*command, "--target", str(folder), *WHEELS[version]])
            if status != 0:
                return None
            ready.write_text(want)
    return folder


def real(area: str) -> dict[str, str] | None:
    """Return the variables by which tests find the real NVRTCs, None if there are none."""
    folders = {f"JITCACHE_TEST_CUDA{v}": wheels(area, v) for v in WHEELS}
    return None if None in folders.values() else {name: str(folder) for name, folder in folders.items()}


def tests() -> Count:
    """The tests that need only a fake NVRTC."""
    return total(
        [
            pytest("cuda", sys.executable, FOLDER, "-m", "not nvrtc and not gpu and not cpp", env=environment()),
            *programs(),
        ]
    )


def programs(area: str = "cuda", standard: str = "c99") -> list[Count]:
    """A host in C, which is C++ too."""
    fakes = BUILD / "test" / area
    status, _ = run(area, [sys.executable, f"{FOLDER}/fakes.py", str(fakes)])
    variables = {"JITCACHE_NVRTC": f"{fakes}/libnvrtc.so.13", "JITCACHE_LIBCUDA": f"{fakes}/libcuda.so.1"}
    counts = [Count(int(status != 0), 0, int(status != 0))]
    program = c.build(area, "cuda.c", standard)
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), folder]
        counts.append(counted(*run(area, command, env=environment(**variables))) if program else Count(0, 0, 1))
    return counts


def nvrtc() -> Count:
    """The tests with the real NVRTCs, without a GPU."""
    variables = real("nvrtc")
    if variables is None:
        return Count(0, 0, 1)
    return total(
        [
            pytest("nvrtc", sys.executable, FOLDER, "-m", "nvrtc and not gpu", env=environment(**variables)),
            test("nvrtc", "-count=1", "./cuda/...", env=environment(**variables)),
        ]
    )


def gpu() -> Count:
    """The tests for a machine with a GPU; skipped if no driver can be loaded.

    $JITCACHE_TEST_GPU_PYTHON is an interpreter with pytest and with frameworks that are to be launched.
    """
    variables = real("gpu")
    if variables is None:
        return Count(0, 0, 1)
    frameworks = os.environ.get("JITCACHE_TEST_GPU_PYTHON", sys.executable)
    return total(
        [
            pytest("gpu", sys.executable, FOLDER, "-m", "gpu", env=environment(**variables)),
            pytest("gpu", frameworks, "tests/gpu", env=environment()),
        ]
    )


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    return control.of_area("cuda-controls", threads=4)
