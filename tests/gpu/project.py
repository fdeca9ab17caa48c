"""A folder with a program for a GPU, and processes that run it with and without the cache."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, NamedTuple

import projects
import pytest
from fakes import Witnesses, witnesses

HERE = Path(__file__).resolve().parent

#: Where NVIDIA's wheels have NVRTC, below the folder of the package nvidia.
NVRTC = "cu13/lib/libnvrtc.so.13"

#: The frameworks: what has to be installed for each, and who sees its compiles from outside.
NEEDS = {
    "triton": ("triton", "torch"),
    "inductor": ("triton", "torch"),
    "jax": ("jax", "jax_cuda13_plugin"),
    "cupy": ("cupy",),
    "cuda_core": ("cuda.core",),
    "warp": ("warp",),
    "cute_dsl": ("cutlass", "torch"),
}
BY_PTXAS, BY_NVRTC = ("triton", "inductor"), ("cupy", "cuda_core")

#: What a process does: it runs the program, whose results are bytes, and says how they are.
RUN = """
import hashlib, json, os, sys, time
import program
program.watch(lambda: open(os.environ["COMPILED"], "a").write("compiled\\n"))
if sys.argv[1:] == ["ready"]:
    print("ready", flush=True)
    sys.stdin.readline()
if os.environ["WAY"] == "ours":
    program.install()
begin = time.perf_counter()
results = program.launched()
seconds = time.perf_counter() - begin
print(json.dumps({"results": [hashlib.sha256(r).hexdigest() for r in results], "right": program.right(results), "seconds": seconds}))
"""

#: Stands before ptxas, which every compile of Triton runs once.
WITNESS = """#!/bin/sh
case "$*" in *--version*) ;; *) echo compiled >> {log} ;; esac
exec {ptxas} "$@"
"""


class Ran(NamedTuple):
    """What a process has found, and how often the framework has compiled since the last look."""

    results: list[str]
    right: bool
    seconds: float
    compiles: int


def installed(name: str) -> bool:
    """Whether a package can be imported. A folder of tests with its name is none."""
    try:
        spec = find_spec(name)
    except ImportError:
        return False
    return spec is not None and spec.origin is not None


class Project(projects.Project):
    """The program of a framework, with caches."""

    FOREIGN = ("TRITON_", "TORCHINDUCTOR_", "JAX_", "XLA_", "CUPY_", "WARP_", "CUTE_", "CUTLASS_", "STUBNVRTC_", "XDG_")

    def __init__(self, folder: Path, framework: str, counted: Callable[[], Path]) -> None:
        for name in NEEDS[framework]:
            if not installed(name):
                pytest.skip(f"{name} is not installed")
        super().__init__(folder, HERE)
        self.framework, self._rounds = framework, 0
        self._variables: dict[str, str] = {}
        (folder / "program.py").write_text((HERE / "programs" / f"{framework}.py").read_text())
        if framework in BY_PTXAS:
            self._variables = self._watched_ptxas()
        self._calls = None
        if framework in BY_NVRTC:
            library = counted()
            self._calls = Witnesses(witnesses(library))
            self._calls.clear()
            self._variables = {"NVRTC": str(library), "JITCACHE_NVRTC": str(library)}

    def _watched_ptxas(self) -> dict[str, str]:
        """Have programs in the place of Triton's ptxas, and return the variables that name them."""
        import triton

        found = {}
        for ptxas in sorted((Path(triton.__file__).parent / "backends" / "nvidia" / "bin").glob("ptxas*")):
            witness = self.folder / ptxas.name
            witness.write_text(WITNESS.format(ptxas=ptxas, log=self.log))
            witness.chmod(0o755)
            found[f"TRITON_{ptxas.name.upper().replace('-', '_')}_PATH"] = str(witness)
        return found

    def environment(self, **env: str) -> dict[str, str]:
        """Each process has folders of its own for the framework's caches: what it finds, jitcache has found."""
        self._rounds += 1
        own = self.folder / f"own-{self._rounds}"
        variables = {
            "OWN": str(own),
            "TMPDIR": str(self.folder),
            "TRITON_CACHE_DIR": str(own / "triton"),
            "TORCHINDUCTOR_CACHE_DIR": str(own / "inductor"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "CUPY_CACHE_DIR": str(own / "cupy"),
            "CUTE_DSL_CACHE_DIR": str(own / "cute"),
            "CUDA_CACHE_DISABLE": "1",
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "WAY": "ours",
        }
        own.mkdir()
        return super().environment(**{**variables, **self._variables, **env})

    def begin(self, *, ready: bool = False, **env: str) -> subprocess.Popen[str]:
        """Start a process that runs the program, with ready one that waits before it installs the adapter."""
        return self.start(f"import sys; sys.argv[1:] = {['ready'] if ready else []!r}\n{RUN}", **env)

    def ended(self, p: subprocess.Popen[str]) -> Any:
        """Wait for a process; return what it has said."""
        return self.end(p)[-1]

    def ran(self, **env: str) -> Ran:
        """Run the program in a process."""
        self.compiled()
        said = self.ended(self.begin(**env))
        return Ran(said["results"], said["right"], said["seconds"], self.compiled())

    def plain(self) -> Ran:
        """Run it without the adapter."""
        return self.ran(WAY="own")

    def compiled(self, name: str | None = None) -> int:
        """Take how often the framework has compiled since the last time."""
        if self._calls is None:
            return super().compiled(name)
        n = self._calls.compiles
        self._calls.clear()
        return n

    def change(self) -> None:
        """Have another factor in the program."""
        path = self.folder / "program.py"
        text = path.read_text()
        assert text.count("FACTOR = 3\n") == 1
        path.write_text(text.replace("FACTOR = 3\n", "FACTOR = 5\n"))

    def entries(self) -> list[Path]:
        """The files of the entries."""
        return sorted(p for p in (self.cache / "v1" / "entries").rglob("*.jce"))
