"""What compiles, as programs that say whether they did."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cuda"), str(ROOT / "tests")]

from fakes import Witnesses, build_counted, witnesses

HOME = "/home/other"  # of the other machine's user
LAUNCHER = str(ROOT / "build" / "lib" / "jitcache")


class Producer(NamedTuple):
    """A command, its variables, and whether one run of it has compiled nothing, by what it and the first one printed."""

    command: tuple[str, ...]
    found: Callable[[str, str], bool]
    env: dict[str, str] = {}
    #: Programs of which none may run where everything is found.
    compilers: frozenset[str] = frozenset({"cc1", "cc1plus", "as", "ld", "collect2", "cython", "jitcache-nvrtc"})
    traced: bool = True
    #: A folder, of a virtual environment say, that the other machine has copies of.
    copied: str = ""
    #: Whether the modules of Python have to have the same times.
    dated: bool = False
    #: Whether what it prints says that it compiled; of others strace does.
    says: bool = True
    #: Whether it is tried where the kernel says that it is another one, too.
    kernel: bool = True
    #: How often it has compiled on this machine so far, by an outside witness; of others what they print says it.
    compiles: Callable[[], int] | None = None
    #: Where it keeps its results if JITCACHE_DIR does not say so: a variable that does, and what is below a home.
    place: tuple[str, str] = ("JITCACHE_DIR", ".cache/jitcache")


def last(text: str) -> Any:
    return json.loads(text.splitlines()[-1])


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
e = native.build({{"f.{ending}": source}}, compiler={compiler!r}, flags={flags!r}, cache=cache)
say(hit=e.hit, missed=e.missed, refused=e.refused, bytes=bytes(e).hex())
"""

CYTHON = """
from jitcache import native
e = native.build({{"own.pyx": {source!r}}}, kind="extension", name="own", cache=cache)
say(hit=e.hit, missed=e.missed, refused=e.refused, bytes=bytes(e).hex())
"""

CUDA = """
from jitcache import cuda
asked = dict(source={source!r}, options={options!r}, name="f.cu")
told = cache.explain(cuda.key(**asked, cache=cache))
e = cuda.compile(**asked, cache=cache)
say(hit=e.hit, bytes=e.code.hex(), changed=told.get("changed", []))
"""

#: One that asks for what is the same everywhere.
PYX = """IF UNAME_SYSNAME == "Linux":
    def f(int n):
        return n + 1
"""

PLAIN = 'extern "C" __global__ void f(float *x) { x[threadIdx.x] *= 2; }\n'
CUB = "#include <cub/block/block_reduce.cuh>\n" + PLAIN.replace("*= 2", "*= sizeof(cub::BlockReduce<float, 128>)")


def _says_hit(first: str, now: str) -> bool:
    return bool(last(now)["hit"]) and last(now).get("bytes") == last(first).get("bytes")


def python(program: str, **more: Any) -> Producer:
    """A program in Python that uses jitcache itself."""
    return Producer((sys.executable, "-c", BEGIN + program), _says_hit, **more)


def native(compiler: str, ending: str, source: str, *flags: str) -> Producer:
    return python(NATIVE.format(source=source, ending=ending, compiler=compiler, flags=list(flags)))


def cython(source: str) -> Producer:
    return python(CYTHON.format(source=source), compilers=OBSERVED)


def cuda(source: str, *options: str, **env: str) -> Producer:
    """A compile by the real NVRTC of its wheel, with CUB's headers in reach."""
    wheels = Path(os.environ["JITCACHE_TEST_CUDA12"]) / "nvidia"
    include = [f"-I{wheels / name / 'include'}" for name in ("cuda_cccl", "cuda_runtime")]
    library = next(wheels.rglob("libnvrtc.so.12"))
    program = CUDA.format(source=source, options=[*options, *include])
    return python(program, env={"JITCACHE_NVRTC": str(library), **env}, kernel=False)


def framework(variable: str, *words: str, found: Callable[[str, str], bool], **env: str) -> Producer:
    """One process of an example, in the virtual environment that a variable names."""
    own = os.environ[variable]
    script = str(ROOT / "examples" / words[0] / "demo.py")
    env = {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", **env}
    return Producer((own, script, "--work", *words[1:]), found, env, copied=str(Path(own).parents[1]), kernel=False)


def numba() -> Producer:
    """Four functions; the example counts where Numba begins a compile."""
    return framework(
        "JITCACHE_TEST_NUMBA", "numba",
        found=lambda first, now: all(not n[2] and n[1] == f[1] for n, f in zip(last(now).values(), last(first).values())),
    )  # fmt: skip


def cuda_core() -> Producer:
    """A template, by an NVRTC that is counted.

    The example looks for NVRTC in this process and those that it started. One that is there shows that it compiled; one that
    is not shows nothing, for a worker ends at once where other processes wait for one.
    """
    own = Path(os.environ["JITCACHE_TEST_CUDA_CORE"]).parents[1]
    counted = _counted(next(own.rglob("nvidia/cu13/lib/libnvrtc.so.13")))
    p = framework(
        "JITCACHE_TEST_CUDA_CORE", "cuda_core", "template", "/nonexistent", "",
        found=lambda first, now: not last(now)[2] and last(now)[1] == last(first)[1], JITCACHE_NVRTC=str(counted),
    )  # fmt: skip
    return p._replace(compiles=lambda: Witnesses(witnesses(counted)).compiles)


@functools.cache
def _counted(real: Path) -> Path:
    """Build it where another machine has it at the same path. It cannot write there, and aborts if it is to compile."""
    folder = ROOT / "build" / "test" / "machines-counted"
    shutil.rmtree(folder, ignore_errors=True)
    built: Path = build_counted(folder, real)
    return built


def cute_dsl() -> Producer:
    """Three functions; the example counts where the DSL runs its passes."""
    return framework(
        "JITCACHE_TEST_CUTE_DSL", "cute_dsl", "source",
        found=lambda first, now: not any(n for _, n in last(now).values()), CUTE_DSL_ARCH="sm_90a",
    )  # fmt: skip


def triton() -> Producer:
    """A kernel; the example counts where Triton begins a compile."""
    return framework(
        "JITCACHE_TEST_TRITON",
        "triton",
        "matmul",
        "install",
        found=lambda first, now: last(now)[1:] == [last(first)[1], 0],
    )


def jax() -> Producer:
    """Three programs; JAX says what it was about to store."""
    return framework(
        "JITCACHE_TEST_JAX", "jax", "ours", JAX_PLATFORMS="cpu",
        found=lambda first, now: all(not n[1] and n[2] == f[2] for n, f in zip(last(now).values(), last(first).values())),
    )  # fmt: skip


def counting(variable: str, name: str) -> Producer:
    """A program of this folder, which counts calls of its framework's compiler, in the virtual environment of a variable."""
    own = os.environ[variable]
    env = {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}

    def found(first: str, now: str) -> bool:
        return last(first)[0] > 0 and last(now) == [0, *last(first)[1:]]

    return Producer((own, str(Path(__file__).resolve().parent / name)), found, env, copied=str(Path(own).parents[1]))


def memoize() -> Producer:
    """A function that reaches an installed package."""
    numpy = find_spec("numpy")
    assert numpy is not None and numpy.origin is not None
    script = str(Path(__file__).resolve().parent / "memoize_program.py")
    env = {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    return Producer(
        (sys.executable, script), lambda first, now: first.startswith("runs") and now == first.partition("\n")[2], env,
        copied=str(Path(numpy.origin).parent),
    )  # fmt: skip


def underworld3() -> Producer:
    """Eighteen functions of a solver, by Cython and gcc, in a setup script.

    To that, as to any program, all variables count, and the modification times of what
    it looks at: in containers of one image these are the same.
    """
    command = (sys.executable, str(ROOT / "examples" / "underworld3_shaped" / "solver.py"))
    return Producer(
        command, lambda first, now: "seconds" in last(now), {"PYTHONPATH": str(ROOT / "python"), "HOME": "/mnt", "USER": "other"}, says=False, dated=True,
        place=("UW_JIT_CACHE_DIR", ".cache/underworld3/jit"),
    )  # fmt: skip


def launched() -> Producer:
    """The object has random names in it: equal bytes are a replay. Under strace the launcher would do nothing."""
    script = (
        "mkdir -p /tmp/launch && cd /tmp/launch && printf '#include <stdio.h>\\nint f(void) { return 1; }\\n' > a.c && rm -f a.o"
        f" && {LAUNCHER} run gcc -O1 -flto -c a.c -o a.o && sha256sum a.o"
    )
    return Producer(("/bin/sh", "-ec", script), lambda first, now: now == first, traced=False, says=False)


#: Python translates, so what shows that nothing is translated is that nothing is observed.
OBSERVED = frozenset({"cc1", "as", "ld", "cython", "jitcache-observe"})

C = "#include <stdio.h>\n#include <math.h>\nint f(void) { return 1; }\n"
CXX = '#include <vector>\n#include <string>\nextern "C" int f() { return 1; }\n'

#: Each producer, as docs/sharing.md names it, and what it needs beside compilers.
PRODUCERS: dict[str, tuple[Callable[[], Producer], str]] = {
    "get_or_compile": (lambda: python(GET_OR_COMPILE), ""),
    "C": (lambda: native("gcc", "c", C), ""),
    "C++": (lambda: native("g++", "cpp", CXX), ""),
    "C by clang": (lambda: native("clang", "c", C), ""),
    "C for this processor": (lambda: native("gcc", "c", C, "-march=native"), ""),
    "Cython": (lambda: cython(PYX), ""),
    "CUDA": (lambda: cuda(PLAIN, "-arch=sm_80"), "JITCACHE_TEST_CUDA12"),
    "CUDA with CUB": (lambda: cuda(CUB, "-arch=sm_80"), "JITCACHE_TEST_CUDA12"),
    "jitcache run": (launched, ""),
    "underworld3": (underworld3, ""),
    "Numba": (numba, "JITCACHE_TEST_NUMBA"),
    "cuda.core": (cuda_core, "JITCACHE_TEST_CUDA_CORE"),
    "CuTe DSL": (cute_dsl, "JITCACHE_TEST_CUTE_DSL"),
    "Triton": (triton, "JITCACHE_TEST_TRITON"),
    "JAX": (jax, "JITCACHE_TEST_JAX"),
    "Warp": (lambda: counting("JITCACHE_TEST_WARP", "warp_program.py"), "JITCACHE_TEST_WARP"),
    "CuPy": (lambda: counting("JITCACHE_TEST_CUPY", "cupy_program.py"), "JITCACHE_TEST_CUPY"),
    "memoize": (memoize, ""),
}
