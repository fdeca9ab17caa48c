"""A folder with a cache, and processes that compile with CuPy in it."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path

import projects
from fakes import Witnesses, witnesses

HERE = Path(__file__).resolve().parent

#: The real one, of its wheel.
NVRTC = Path(next(iter(find_spec("nvidia").submodule_search_locations))) / "cuda_nvrtc/lib/libnvrtc.so.12"

#: What every process begins with. COUNTED is the NVRTC that CuPy finds loaded.
BEGIN = """
import ctypes, hashlib, json, os, sys
ctypes.CDLL(os.environ["NVRTC"], mode=ctypes.RTLD_GLOBAL)
import instrument
from cupy.cuda import compiler
import jitcache
import jitcache.adapters.cupy as adapter
K = 'extern "C" __global__ void k(int *p) { *p = 1; }'
T = "template <class T> __global__ void axpy(T a, T *x) { *x *= a; }"
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
def say(**what):
    print(json.dumps(what), flush=True)
def compiled(source=K, options=(), **more):
    return compiler._compile_module_with_cache(source, options, **{"arch": "80", **more})
def digest(module):
    code = getattr(module, "code", module)
    return hashlib.sha256(code.rstrip(b"\\0")).hexdigest()  # CuPy takes the last byte off, of machine code too
def call(*args, **more):
    say(code=digest(compiled(*args, **more)))
"""

OURS = "assert adapter.install()\n"
CALL = "call()\n"
#: All begin at once.
AT_ONCE = "ready()\n" + CALL


class Project(projects.Project):
    """The same for CuPy; compiles are those of NVRTC, whoever calls it, of which CuPy has one of nothing at all in each process."""

    BEGIN = BEGIN
    FOREIGN = ("CUPY_", "CUDA_", "STUBNVRTC_")

    def __init__(self, folder: Path, counted: Path) -> None:
        super().__init__(folder, HERE)
        self.counted = counted
        self._calls = Witnesses(witnesses(counted))
        self._calls.clear()

    def environment(self, **env: str) -> dict[str, str]:
        return super().environment(NVRTC=str(self.counted), CUPY_CACHE_DIR=str(self.own), **env)

    def compiled(self, name: str | None = None) -> int:
        """Take how often NVRTC has compiled since the last time."""
        n = self._calls.compiles
        self._calls.clear()
        return n

    def wait_for_compile(self, name: str | None = None) -> None:
        """Wait until NVRTC has begun to compile."""
        end = time.monotonic() + 600
        while not self._calls.compiles:
            assert time.monotonic() < end, "no compile has begun"
            time.sleep(0.01)
