"""A server that needs a kernel of each framework: what it does before its first answer.

    python examples/serving/serve.py [-arch N]... [FRAMEWORK]...

Compiles for compute capabilities 90 and 100, without a GPU, or finds what somebody has
compiled. Each framework is a process of its own; one that is not installed is left out.
The last line is JSON: for each framework and architecture the digest of the code and
the seconds that it took.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

#: What has to be importable, or a program that has to be there, for each framework.
FRAMEWORKS = {
    "triton": "triton",
    "cute_dsl": "cutlass",
    "cutile": "cuda.tile",
    "torch": "torch",
    "nvrtc": "",
    "nvcc": "",
}

#: cuTile compiles for Blackwell.
ONLY = {"cutile": {100}, "torch": {100}}


def is_here(framework: str) -> bool:
    """Whether a framework is installed."""
    if framework == "nvcc":
        return shutil.which(os.environ.get("NVCC", "nvcc")) is not None
    module = FRAMEWORKS[framework]
    try:
        return not module or importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def work(framework: str, architecture: int) -> None:
    """Do the work of one process: print the digest of the code, and the seconds."""
    kernels = importlib.import_module(f"kernels_{framework}")
    start = time.perf_counter()
    code = kernels.code(architecture)
    print(json.dumps([hashlib.sha256(code).hexdigest(), round(time.perf_counter() - start, 3)]))


def process(framework: str, architecture: int) -> list[str | float]:
    """Start such a process, and return what it says."""
    # CuTe DSL reads the variable when it is imported. With a GPU it is not needed.
    env = {**os.environ, "CUTE_DSL_ARCH": f"sm_{architecture}a"} if framework == "cute_dsl" else None
    command = [sys.executable, __file__, "--work", framework, str(architecture)]
    out = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: list[str | float] = json.loads(out.splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-arch", type=int, action="append", help="compute capability: 90, 100")
    parser.add_argument("frameworks", nargs="*", metavar="FRAMEWORK", help=", ".join(FRAMEWORKS))
    args = parser.parse_args()
    found = {}
    for framework in args.frameworks or FRAMEWORKS:
        if not is_here(framework):
            print(f"{framework}: not installed", file=sys.stderr)
            continue
        for architecture in args.arch or (90, 100):
            if architecture in ONLY.get(framework, {architecture}):
                found[f"{framework} {architecture}"] = process(framework, architecture)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main())
