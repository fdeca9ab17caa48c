"""An extension that nvcc builds when it is first used, as libraries of kernels do."""

import os
import subprocess
from pathlib import Path

SOURCE = """#include <cstdio>
__global__ void add(float *x, const float *y) { x[threadIdx.x] += y[threadIdx.x]; }
void launch(float *x, const float *y) { add<<<1, 256>>>(x, y); }
"""

#: Where it is built. nvcc puts a hash of the source's path into some names, so a result is for one folder.
FOLDER = Path("/tmp/extension")


def code(architecture: int) -> bytes:
    """Return its object file. nvcc starts shells, so all its variables count: it gets what compilers obey."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "add.cu").write_text(SOURCE)
    (FOLDER / "add.o").unlink(missing_ok=True)
    nvcc = os.environ.get("NVCC", "nvcc")
    command = [
        "jitcache",
        "run",
        "-withhold",
        "strict:HOME:USER:LOGNAME",
        nvcc,
        f"-arch=sm_{architecture}",
        "-c",
        "add.cu",
        "-o",
        "add.o",
    ]
    subprocess.run(command, cwd=FOLDER, check=True)
    return (FOLDER / "add.o").read_bytes()
