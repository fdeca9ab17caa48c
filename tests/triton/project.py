"""A folder with a kernel, and processes that compile it for a GPU that need not be there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import projects
from processes import printed

HERE = Path(__file__).resolve().parent

#: What turns the adapter on.
OURS = {"TRITON_CACHE_MANAGER": "jitcache.adapters.triton:Manager"}

APP = """
import hashlib
import json

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def fails(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B - 1), 1.0)  # no power of 2: Triton has the key by then


def source(kernel=add, block=1024):
    types = {"x": "*fp32", "y": "*fp32", "o": "*fp32", "n": "i32", "B": "constexpr"}
    return ASTSource(kernel, {name: types[name] for name in kernel.arg_names}, {"B": block})


def compiled(kernel=add, block=1024, arch=90, **options):
    return triton.compile(source(kernel, block), target=GPUTarget("cuda", arch, 32), options=options)


def digests(kernel):
    return {name: hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest() for name, data in kernel.asm.items()}


def say(**what):
    print(json.dumps(what))
"""

#: A process that compiles the kernel and says what it got.
ONE = """
import app
kernel = app.compiled()
app.say(asm=app.digests(kernel), shared=kernel.metadata.shared)
"""

#: Stands before ptxas, which every compile runs once: an outside witness of compiles.
WITNESS = """#!/bin/sh
case "$*" in *--version*) exec {ptxas} "$@" ;; esac
echo $$ >> {log}
[ -z "$PAUSE" ] || sleep "$PAUSE" > /dev/null 2>&1
exec {ptxas} "$@"
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Triton's files below its folder, without the path of that in them; those that say whose a folder is are ours."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.parent.name != ".jitcache-owners")
    return {str(p.relative_to(folder)): p.read_bytes().replace(str(folder).encode(), b"FOLDER") for p in files}


def compilers() -> list[Path]:
    """What Triton comes with: ptxas, and in newer versions one for some of the architectures."""
    import triton

    return sorted((Path(triton.__file__).parent / "backends" / "nvidia" / "bin").glob("ptxas*"))


class Ran(NamedTuple):
    """What a process printed and how it ended, and how often ptxas ran in all processes since the last look."""

    out: str
    compiles: int
    status: int
    err: str

    @property
    def said(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return answer


class Project(projects.Place):
    """Sources in ``folder``; the cache and Triton's folder, ``own``, in it."""

    BEGIN = "import instrument\n"
    FOREIGN = ("TRITON_", "XDG_", "PYTHON")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, HERE)
        self.home = folder / "home"
        self.home.mkdir()
        (folder / "app.py").write_text(APP)
        self._witnesses = {}
        for ptxas in compilers():
            witness = folder / ptxas.name
            witness.write_text(WITNESS.format(ptxas=ptxas, log=self.log))
            witness.chmod(0o755)
            self._witnesses[f"TRITON_{ptxas.name.upper().replace('-', '_')}_PATH"] = str(witness)

    def environment(self, **env: str) -> dict[str, str]:
        own = {"TMPDIR": str(self.folder), "TRITON_CACHE_DIR": str(self.own), "TRITON_DEFAULT_FP_FUSION": "1"}
        found = super().environment(**{**self._witnesses, **own, **env})
        return {k: v for k, v in found.items() if v != "unset"}

    def start(self, code: str = ONE, *, stdin: int = subprocess.DEVNULL, **env: str) -> subprocess.Popen[str]:
        """Start a process on a piece of code."""
        return super().start(code, stdin=stdin, **env)

    def end(self, p: subprocess.Popen[str]) -> Ran:
        """Wait for a process."""
        out, err = printed(p)
        return Ran(out.strip(), self.compiled(), p.returncode, err)

    def run(self, code: str = ONE, **env: str) -> Ran:
        """Run a process to its end, however that is."""
        self.compiled()
        return self.end(self.start(code, **env))

    def check(self, code: str = ONE, **env: str) -> Ran:
        """Run a process, which has to succeed."""
        ran = self.run(code, **env)
        assert ran.status == 0, f"{ran.status}: {ran.out}{ran.err}"
        return ran

    def ours(self, code: str = ONE, **env: str) -> Ran:
        """The same with the adapter."""
        return self.check(code, **OURS, **env)

    def entries(self) -> list[Path]:
        """The files of the entries, the largest first."""
        return sorted(self.cache.glob("v1/entries/*/*.jce"), key=lambda p: -p.stat().st_size)
