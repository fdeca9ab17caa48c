"""jitcache_cuda.hpp: a program in C++, with a fake NVRTC and a fake driver."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import CallLog, Compiler
from installed import compilers

ROOT = Path(__file__).resolve().parent.parent.parent
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


@pytest.mark.cpp
def test_objects(stub: Compiler, calls: CallLog, tmp_path: Path) -> None:
    program = tmp_path / "objects"
    command = [
        *compilers.cpp(), "-O1", "-std=c++11", *STRICT, f"-I{ROOT}/build/include", f"{ROOT}/tests/cuda/objects.cpp", "-o", program,
        f"-L{ROOT}/build/lib", f"-Wl,-rpath,{ROOT}/build/lib", "-ljitcache", "-lpthread", "-ldl",
    ]  # fmt: skip
    subprocess.run(command, check=True)
    p = subprocess.run([program, tmp_path / "caches"], stdout=subprocess.PIPE, text=True, check=False)
    assert p.stdout.endswith("6 run, 0 failed\n"), p.stdout
    # Every module and function has gone, and taken the code with it.
    assert calls.count("cuModuleUnload") == calls.count("cuModuleLoadData") == 1
