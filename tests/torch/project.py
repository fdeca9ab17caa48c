"""A folder with a cache, processes that compile with PyTorch in it, and a compiler whose starts are seen."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import projects
from bell import Bell
from prepared import Prepared

HERE = Path(__file__).resolve().parent

#: Variables of the user's that PyTorch reads, or a compiler.
FOREIGN = ("TORCH", "ATEN_", "OMP_", "MKL_", "CXX", "TRITON_")

#: Variables that are not read when PyTorch is imported. A row that has another one starts anew.
FREE = {"CXX", "FOLDER", "JITCACHE_LAYERS", "JITCACHE_REMOTE", "MINE", "PATH", "TMPDIR"}

IMPORTS = ["torch", "torch._inductor.compile_fx", "torch._functorch._aot_autograd.autograd_cache"]
PREPARED = Prepared(IMPORTS, projects.environment(FOREIGN), projects.FREE | FREE)

#: What every process begins with. f is what most tests compile: two graphs, each with a kernel.
BEGIN = """
import json, os, sys
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.environ["FOLDER"]  # PyTorch sets it when it is imported, if it is not set
import instrument
import torch
import jitcache
import jitcache.adapters.torch as adapter
from torch._dynamo.utils import counters
def f(x):
    return (x.sin() + 1).sum(-1) * 2
X = torch.arange(8 * 1003, dtype=torch.float32).reshape(8, 1003) / 100
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
def say(**what):
    print(json.dumps(what), flush=True)
def call():
    x = X.clone().requires_grad_()
    y = torch.compile(f)(x)
    y.sum().backward()
    say(
        error=float((y - f(X)).abs().max()), slope=float((x.grad - 2 * X.cos()).abs().max()),
        sums=[float(y.sum()), float(x.grad.sum())], graphs=counters["inductor"]["fxgraph_cache_hit"],
        joint=counters["aot_autograd"]["autograd_cache_hit"], uncached=adapter.uncached(), count=adapter.count(),
    )
"""

OURS = "assert adapter.install() == 'all'\n"
CALL = "call()\n"
#: All begin at once.
AT_ONCE = "ready()\n" + CALL

#: What PyTorch may be off, against the same without compiling.
CLOSE = 1e-3

#: A program in the place of another, which rings a bell and leaves nothing behind.
_RINGER = """
#include <fcntl.h>
#include <unistd.h>
int main(int n, char **words) {{
    for (n = 0; n < {rings}; n++) close(open("{bell}", O_RDONLY | O_CLOEXEC));
    return execv("{real}", words);
}}
"""


class Compiler:
    """A g++ whose starts are seen, and those of its cc1plus."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        libgcc = subprocess.check_output(["g++", "-print-libgcc-file-name"], text=True).strip()
        real = Path(libgcc).parent.resolve()  # /usr/lib/gcc/TARGET/VERSION, which g++ looks for beside its own folder
        room = folder / "lib" / "gcc" / real.relative_to(real.parents[1])
        self.folder = folder / "bin"
        for made in (self.folder, folder / "driver", room):
            made.mkdir(parents=True)
        (folder / "include").symlink_to(real.parents[3] / "include")
        for path in real.iterdir():
            if path.name != "cc1plus":
                (room / path.name).symlink_to(path)
        shutil.copy(os.path.realpath(str(shutil.which("g++"))), folder / "driver" / "g++")
        self._put(self.folder / "g++", folder / "driver" / "g++")
        self._put(room / "cc1plus", real / "cc1plus")

    def _put(self, path: Path, real: Path) -> None:
        source, bell = self._folder / f"{path.name}.c", self._bell(path.name)
        source.write_text(_RINGER.format(rings=Bell.RINGS, bell=bell, real=real))
        subprocess.run(["gcc", "-O1", "-w", str(source), "-o", str(path)], check=True)

    def _bell(self, name: str) -> Path:
        return self._folder / f"{name}-bell"

    def __enter__(self) -> Compiler:
        self._bells = {name: Bell(self._bell(name)) for name in ("g++", "cc1plus")}
        return self

    def __exit__(self, *_: object) -> None:
        for bell in self._bells.values():
            bell.close()

    def started(self) -> dict[str, int]:
        """Return how often each has run since the last call."""
        return {name: bell.rung() for name, bell in self._bells.items()}


#: The same when nothing was started.
NOTHING: dict[str, Any] = {"g++": 0, "cc1plus": 0, "processes": []}


class Project(projects.Project):
    """The same for PyTorch."""

    BEGIN = BEGIN
    FOREIGN = FOREIGN
    PREPARED = PREPARED

    def __init__(self, folder: Path, compiler: Compiler) -> None:
        super().__init__(folder, HERE)
        self.compiler = compiler
        self.first: list[Any] = []
        self.starts: dict[str, int] = {}
        self.remote = ""

    def environment(self, **env: str) -> dict[str, str]:
        path = os.pathsep.join([str(self.compiler.folder), os.environ["PATH"]])
        # The compiler is no program that the observer knows, so all variables that it gets count.
        home = str(self.compiler.folder)
        python = os.pathsep.join([str(HERE), str(projects.ROOT / "python")])
        same = {"HOME": home, "XDG_CONFIG_HOME": home, "PATH": path, "PYTHONPATH": python}
        own = {**same, **self.folders("own")}
        return super().environment(**{**own, **env})

    def folders(self, name: str) -> dict[str, str]:
        """Return the variables that give a process PyTorch folders of its own."""
        for folder in (self.folder / name, self.folder / f"{name}-tmp"):
            folder.mkdir(exist_ok=True)
        return {"FOLDER": str(self.folder / name), "TMPDIR": str(self.folder / f"{name}-tmp")}

    def copy(self, other: Project) -> None:
        """Take over another project's cache."""
        shutil.copytree(other.cache, self.cache)

    def processes(self) -> list[str]:
        """Return what Python has started since the last call, by its own account."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def started(self) -> dict[str, Any]:
        """Return what was started since the last call: compilers by the kernel's word, other processes by Python's."""
        return {**self.compiler.started(), "processes": self.processes()}


def is_right(said: Any) -> bool:
    """Return whether a process has computed what it should."""
    return bool(said["error"] < CLOSE and said["slope"] < CLOSE)
