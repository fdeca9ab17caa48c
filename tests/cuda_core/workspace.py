"""A folder, and processes that compile in it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import fakes
import projects
from cuda.core import ProgramOptions
from fakes import Witnesses, witnesses
from prepared import Prepared, Started
from processes import printed

HERE = Path(__file__).resolve().parent

#: The real one, of its wheel.
NVRTC = Path(next(iter(find_spec("nvidia").submodule_search_locations))) / "cu13/lib/libnvrtc.so.13"

#: The real nvJitLink, of its wheel.
NVJITLINK = NVRTC.parent / "libnvJitLink.so.13"

#: Whether this is a cuda.core from 1.2 on, the first that has the headers which NVRTC brings along.
BUNDLED = hasattr(ProgramOptions, "use_bundled_headers")

#: Variables of this machine's CUDA, and of the libraries that count compiles.
FOREIGN = ("CUDA_", "STUBNVRTC_")

#: Variables that cuda.core does not read when it is imported, as it loads no NVRTC then. A row that has another one starts anew.
FREE = {
    "COUNTED", "COUNTED_LINKER", "JITCACHE_NVRTC", "LINKED", "LINKED_SLEEP", "LINKED_SLEEP_MS", "OTHER", "STUBNVRTC_SLEEP_MS", "VALUE", "XDG_CACHE_HOME",
}  # fmt: skip

IMPORTS = ["cuda.core", "cuda.core.utils"]
PREPARED = Prepared(IMPORTS, projects.environment(FOREIGN), projects.FREE | FREE)

#: What every process begins with. COUNTED has the compiles of NVRTC written down, COUNTED_LINKER the links of nvJitLink,
#: whoever asks for them.
BEGIN = """
import ctypes, os, sys
for library in filter(None, (os.environ.get("COUNTED"), os.environ.get("COUNTED_LINKER"))):
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
import instrument
from cuda.core import ObjectCode, Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache, ProgramCacheResource, make_program_cache_key
from jitcache.adapters.cuda_core import ProgramCache, compile_program
O = ProgramOptions(arch="sm_80")
K = 'extern "C" __global__ void k(int *p) { *p = VALUE; }'
T = "template <class T> __global__ void axpy(T a, T *x) { *x *= a; }"
"""


def build_counted_linker(folder: Path, *flags: str) -> Path:
    """Build what counts the links of the real nvJitLink."""
    return fakes.build(
        folder / NVJITLINK.name, [str(HERE / "counted_linker.c"), "knobs.c"], f'-DREAL="{NVJITLINK}"', *flags
    )


class Workspace(projects.Place):
    """Where sources lie (``folder``, the working directory) and caches (``cache``)."""

    BEGIN = BEGIN
    FOREIGN = FOREIGN
    PREPARED = PREPARED

    def __init__(self, folder: Path, counted: Path) -> None:
        super().__init__(folder, HERE)
        self.cache, self.home = folder.parent / "cache", folder.parent / "home"
        self.home.mkdir(exist_ok=True)
        self.counted = counted
        self._calls = Witnesses(witnesses(counted))
        self._calls.clear()

    def environment(self, **env: str) -> dict[str, str]:
        counted = str(self.counted)
        return super().environment(**{"CACHE": str(self.cache), "COUNTED": counted, "JITCACHE_NVRTC": counted, **env})

    def end(self, p: Started) -> str:
        """Wait for a process, which has to succeed, and return what it printed."""
        out, err = printed(p)
        assert p.returncode == 0, f"{p.returncode}: {out}{err}"
        return out.strip()

    def run(self, code: str, **env: str) -> str:
        """Run a process to its end and return what it printed."""
        return self.end(self.start(code, **env))

    def compiled(self, name: str | None = None) -> int:
        """Take how often NVRTC has compiled since the last time."""
        n = self._calls.compiles
        self._calls.clear()
        return n

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path
