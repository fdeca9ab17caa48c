"""A folder with a cache, processes that compile with cuTile in it, and a compiler whose runs are seen."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import fakes
import projects
from opens import Opens
from prepared import Prepared

HERE = Path(__file__).resolve().parent

#: Variables of the user's that cuTile reads, or its compiler.
FOREIGN = ("CUDA_", "EXPERIMENTAL_CUDA", "LLVM_", "NVVM")

#: Variables that cuTile does not read when it is imported, or whose answers BEGIN replaces.
FREE = {"HOME", "USER", "NVVM_IR_VER_CHK", "SCRATCH", "SLURM_JOB_ID", "SOMETHING", "TOOLKIT"}

IMPORTS = ["cuda.tile", "cuda.tile._compile", "cuda.tile.compilation"]
PREPARED = Prepared(IMPORTS, projects.environment(FOREIGN), projects.FREE | FREE)

#: What every process begins with. ``program.py`` has the kernel that most tests compile. cuTile's own cache is in OWN.
BEGIN = """
import hashlib, io, json, os, sys
sys.path.insert(0, os.getcwd())
import nvidia.cu13
nvidia.cu13.__path__ = [os.environ["TOOLKIT"]]
import cuda.tile as ct
from cuda.tile._cext import default_tile_context
from cuda.tile.compilation import ArrayConstraint, CallingConvention, ConstantConstraint, KernelSignature, export_kernel
default_tile_context.config.cache_dir = os.environ["OWN"]
default_tile_context.config.temp_dir = os.environ["SCRATCH"]
import jitcache
import instrument
import jitcache.adapters.cutile as adapter
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
def say(**what):
    print(json.dumps(what), flush=True)
def made(kernel, tile=64, arch="sm_100"):
    array = ArrayConstraint(
        ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False, stride_constant=(1,)
    )
    signature = KernelSignature([array, array, ConstantConstraint(tile)], CallingConvention.cutile_python_v1())
    out = io.BytesIO()
    export_kernel(kernel, [signature], out, gpu_code=arch, output_format="cubin")
    return out.getvalue()
def call(**more):
    import program
    cubin = made(program.k, **more)
    say(code=hashlib.sha256(cubin).hexdigest(), elf=cubin[:4] == b"\\x7fELF", size=len(cubin), uncached=adapter.uncached())
"""

PROGRAM = """
import cuda.tile as ct
from factor import F
@ct.kernel
def k(a, b, tile: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(b, index=(i,), tile=ct.load(a, index=(i,), shape=(tile,)) * F)
"""

OURS = "assert adapter.install()\n"
CALL = "call()\n"
#: How often tileiras runs in a process that finds no kernel: cuTile asks which bytecode it reads, and has the kernel compiled.
COLD = 2
#: How often it runs in a process in which cuTile finds the kernel in its own cache.
QUESTION = 1
#: All begin at once.
AT_ONCE = "ready()\n" + CALL


class Compiler:
    """A copy of cuTile's compiler that nobody else starts, and how often it runs.

    Its libNVVM, which each run loads, writes down that it was loaded.
    """

    def __init__(self, folder: Path) -> None:
        self.toolkit = folder / "cu13"
        own = Path(next(iter(find_spec("nvidia").submodule_search_locations))) / "cu13"
        for name, place in (("bin/tileiras", "bin"), ("bin/ptxas", "bin"), ("lib/libnvvm.so.4", "lib/real")):
            (self.toolkit / place).mkdir(parents=True, exist_ok=True)
            shutil.copy(own / name, self.toolkit / place)
        real = self.toolkit / "lib/real/libnvvm.so.4"
        linked = ("-Wl,-soname,libcounted.so", "-Wl,-rpath,$ORIGIN/real", "-Wl,--no-as-needed", str(real))
        nvvm = fakes.build(self.toolkit / "lib" / real.name, [str(HERE / "counted_nvvm.c"), "knobs.c"], *linked)
        self._calls = fakes.Witnesses(fakes.witnesses(nvvm))
        self._opens = Opens(self.toolkit / "bin/tileiras")

    def runs(self) -> int:
        """Take how often tileiras has run since the last time, whoever started it, but for asking its version."""
        n = self._calls.count("nvvm")
        self._calls.clear()
        return n

    def started(self) -> bool:
        """Take whether anybody has opened tileiras since the last time, to start it or to read it."""
        return bool(self._opens())


class Project(projects.Project):
    """The same for cuTile, and the program."""

    BEGIN = BEGIN
    FOREIGN = FOREIGN
    PREPARED = PREPARED

    def __init__(self, folder: Path, compiler: Compiler) -> None:
        super().__init__(folder, HERE)
        self.compiler = compiler
        self.write()

    def environment(self, **env: str) -> dict[str, str]:
        return super().environment(**{"TOOLKIT": str(self.compiler.toolkit), "SCRATCH": str(self.folder), **env})

    def write(self, factor: str = "2.0", program: str = PROGRAM) -> None:
        """Write the program, and the module that it takes a number from."""
        (self.folder / "program.py").write_text(program)
        (self.folder / "factor.py").write_text(f"F = {factor}\n")
