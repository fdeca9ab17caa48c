"""What one machine has compiled, another that has the same packages at the same paths does not compile again.

Its files have other inodes and times, and host name, user and home are others. What was
compiled is copied there as a layer.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Machine, here

PYTHON = sys.executable
LAUNCHER = str(ROOT / "build" / "lib" / "jitcache")

BEGIN = f"""
import json, os, sys
sys.path.insert(0, {str(ROOT / "python")!r})
import jitcache
cache = jitcache.default_cache()
def say(**what): print(json.dumps(what))
"""

GET_OR_COMPILE = """
made = []
cache.get_or_compile(jitcache.Key(source="a"), lambda: made.append(1) or b"code")
say(hit=not made)
"""

NATIVE = """
from jitcache import native
source = {source!r}
e = native.build({{"f.{ending}": source}}, compiler={compiler!r}, cache=cache)
say(hit=e.hit, missed=e.missed, refused=e.refused, bytes=bytes(e).hex())
"""

CYTHON = """
from jitcache import native
e = native.build({"own.pyx": "def f(int n):\\n    return n + 1\\n"}, kind="extension", name="own", cache=cache)
say(hit=e.hit, missed=e.missed, refused=e.refused, bytes=bytes(e).hex())
"""

CUDA = """
from jitcache import cuda
source = {source!r}
e = cuda.compile(source, options={options!r}, cache=cache)
say(hit=e.hit, bytes=e.code.hex())
"""

PLAIN = 'extern "C" __global__ void f(float *x) { x[threadIdx.x] *= 2; }\n'
CUB = "#include <cub/block/block_reduce.cuh>\n" + PLAIN.replace("*= 2", "*= sizeof(cub::BlockReduce<float, 128>)")


def rows() -> list[Any]:
    """Each producer: what it needs, and its program."""
    made = [pytest.param(GET_OR_COMPILE, id="get_or_compile")]
    for compiler, ending, source in (
        ("gcc", "c", "#include <stdio.h>\n#include <math.h>\nint f(void) { return 1; }\n"),
        ("g++", "cpp", '#include <vector>\n#include <string>\nextern "C" int f() { return 1; }\n'),
        ("clang", "c", "#include <stdio.h>\nint f(void) { return 2; }\n"),
    ):
        made.append(
            pytest.param(NATIVE.format(source=source, ending=ending, compiler=compiler), id=f"native {compiler}")
        )
    return made


def both(machine: Machine, tmp_path: Path, program: str, **env: str) -> None:
    """Run a program here, twice, and on the other machine, twice."""
    command, cache = (PYTHON, "-c", BEGIN + program), tmp_path / "cache"

    def one() -> Any:
        return json.loads(here(*command, JITCACHE_DIR=str(cache), **env).splitlines()[-1])

    first = one()
    assert not first["hit"]
    assert first.get("refused", "") == ""
    assert one()["hit"]
    machine.install(cache)
    for _ in range(2):
        there = machine.run(*command, **env)
        said = json.loads(there.out.splitlines()[-1])
        assert (said["hit"], there.compilers) == (True, []), said.get("missed")
        assert said.get("bytes") == first.get("bytes")


@pytest.mark.parametrize("program", rows())
def test_second_machine_compiles_nothing(machine: Machine, tmp_path: Path, program: str) -> None:
    both(machine, tmp_path, program)


def test_second_machine_compiles_no_c_of_cython(machine: Machine, tmp_path: Path) -> None:
    """Cython tells sources what host they are translated on, so it translates again; the C is the same."""
    command = (PYTHON, "-c", BEGIN + CYTHON)
    first = json.loads(here(*command, JITCACHE_DIR=str(tmp_path / "cache")).splitlines()[-1])
    machine.install(tmp_path / "cache")
    there = machine.run(*command)
    said = json.loads(there.out.splitlines()[-1])
    assert (said["hit"], said["bytes"]) == (True, first["bytes"])
    assert not set(there.compilers) & {"cc1", "as", "ld"}


@pytest.mark.skipif("JITCACHE_TEST_CUDA12" not in os.environ, reason="no wheels of NVRTC")
@pytest.mark.parametrize("source", [pytest.param(PLAIN, id="CUDA"), pytest.param(CUB, id="CUDA with CUB")])
def test_second_machine_compiles_no_cuda(machine: Machine, tmp_path: Path, source: str) -> None:
    wheels = Path(os.environ["JITCACHE_TEST_CUDA12"])
    include = [
        f"-I{p}" for p in (wheels / "nvidia" / "cuda_cccl" / "include", wheels / "nvidia" / "cuda_runtime" / "include")
    ]
    library = next(wheels.rglob("libnvrtc.so.12"))
    program = CUDA.format(source=source, options=["-arch=sm_80", *include])
    both(machine, tmp_path, program, JITCACHE_NVRTC=str(library))


def test_second_machine_runs_no_command(machine: Machine, tmp_path: Path) -> None:
    """The object has random names in it: equal bytes are a replay. Under strace the launcher would do nothing."""
    script = "mkdir -p /tmp/launch && cd /tmp/launch && printf '#include <stdio.h>\\nint f(void) { return 1; }\\n' > a.c && rm -f a.o"
    command = ("/bin/sh", "-ec", f"{script} && {LAUNCHER} run gcc -O1 -flto -c a.c -o a.o && sha256sum a.o")
    assert here(*command, JITCACHE="0") != here(*command, JITCACHE="0")
    first = here(*command, JITCACHE_DIR=str(tmp_path / "cache"))
    machine.install(tmp_path / "cache")
    for _ in range(2):
        assert machine.run(*command, traced=False).out == first


def test_what_differs_there_is_compiled_again(machine: Machine, tmp_path: Path) -> None:
    """A change that no stamp shows: the witness must see it."""
    program = NATIVE.format(
        source="#include <differs.h>\nint f(void) { return DIFFERS; }\n", ending="c", compiler="gcc"
    )
    header, command = Path("/usr/local/include/differs.h"), (PYTHON, "-c", BEGIN + program)
    header.write_text("#define DIFFERS 1\n")
    try:
        here(*command, JITCACHE_DIR=str(tmp_path / "cache"))
        machine.install(tmp_path / "cache")
        machine.root(f"echo '#define DIFFERS 2' > {header}")
        there = machine.run(*command)
        said = json.loads(there.out.splitlines()[-1])
        assert not said["hit"]
        assert str(header) in said["missed"]
        assert "cc1" in there.compilers
    finally:
        header.unlink()
