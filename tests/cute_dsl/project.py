"""A folder of sources, and processes that use it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from prepared import Prepared, Started
from processes import printed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: What instrument.py imports of the DSL. Its only thread is NumPy's.
IMPORTS = ["cutlass", "cutlass.cute", "cutlass.cutlass_dsl"]

#: Variables that only instrument.py, jitcache and the code of tests read. A row that has another one starts anew.
FREE = (
    "BUILD", "COMPILE_LOG", "JITCACHE", "JITCACHE_DIR", "JITCACHE_LIBRARY", "N", "OPTIONS", "PAUSE", "PROCESSOR",
    "VERSION", "WITHOUT",
)  # fmt: skip


def environment() -> dict[str, str]:
    """Return what all processes have of the tester's environment, and the architecture."""
    own = ("JITCACHE_", "CUTE_", "CUTLASS_", "XDG_", "PYTHON")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    library = {k: v for k, v in os.environ.items() if k == "JITCACHE_LIBRARY"}
    return {**kept, **library, "PYTHONDONTWRITEBYTECODE": "1", "CUTE_DSL_ARCH": "sm_90a"}


PREPARED = Prepared(IMPORTS, environment(), FREE)

#: The program that most rows change: a kernel that uses a closure, globals, another module and its helper.
APP = """
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_fake_stream, make_fake_tensor

import lib
from lib import helper

SCALE = 2
UNUSED = 1
TABLE = [3, 4]


@cute.kernel
def kernel(x: cute.Tensor, y: cute.Tensor, k: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    y[thread] = helper(x[thread]) * SCALE + lib.OFFSET + k + TABLE[0]


def closed(extra):
    @cute.jit
    def launch(x: cute.Tensor, y: cute.Tensor, n: cutlass.Int32, k: cutlass.Constexpr, stream=None, last: cutlass.Int32 = 5):
        kernel(x, y, k + extra).launch(grid=(n, 1, 1), block=(32, 1, 1))

    return launch


launch = closed(1)


def job():
    rows, others = cute.sym_int(), cute.sym_int()
    x = make_fake_tensor(cutlass.Float32, (rows,), (1,), assumed_align=16)
    y = make_fake_tensor(cutlass.Float32, (others,), (1,), assumed_align=16)
    return launch, (x, y, 1, 7), {}, ""
"""

LIB = """
OFFSET = 10
OTHER = 1


def inner(v):
    return v + 1


def helper(v):
    return inner(v) * 3
"""


class Ran(NamedTuple):
    """What a process printed and how it ended, and what was done in all processes since the last look."""

    out: str
    done: list[str]
    status: int
    err: str

    @property
    def compiles(self) -> int:
        return self.done.count("compile")

    @property
    def traces(self) -> int:
        return self.done.count("trace")


class Project:
    """Sources in ``folder``; the cache beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder.parent / "cache"
        self.log = folder.parent / "compiles"
        self.home = folder.parent / "home"
        folder.mkdir(parents=True)
        self.home.mkdir()
        self.write(app=APP, lib=LIB)

    def write(self, **files: str) -> None:
        """Write modules, by name."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(textwrap.dedent(text))

    def program(self, name: str, **env: str) -> dict[str, Any]:
        """Have a process compile the job of a program by source, ``module`` or ``module.job``."""
        answer: dict[str, Any] = json.loads(self.check(f"instrument.program({name!r})", **env).out.splitlines()[-1])
        return answer

    def edit(self, module: str, old: str, new: str) -> None:
        """Change a module's text, in which the old one is."""
        path = self.folder / f"{module}.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def move(self) -> None:
        """Have the sources in another folder."""
        other = self.folder.parent / "elsewhere"
        shutil.move(self.folder, other)
        self.folder = other

    def environment(self, **env: str) -> dict[str, str]:
        found = {
            **environment(),
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(HERE), str(ROOT / "python")]),
            "HOME": str(self.home),
            "JITCACHE_DIR": str(self.cache),
            "COMPILE_LOG": str(self.log),
            **env,
        }
        return {k: v for k, v in found.items() if v != "unset"}

    def start(self, code: str, *, fresh: str = "", **env: str) -> Started:
        """Start a process on a piece of code.

        It is forked from one that has imported the DSL, unless ``fresh`` says why it has to start anew, or PREPARED does.
        """
        text = "import instrument\n" + textwrap.dedent(code)
        if "PYTHON" not in env:
            return PREPARED.start(text, env=self.environment(**env), cwd=self.home, fresh=fresh)
        return subprocess.Popen(
            [env.pop("PYTHON"), "-c", text],
            env=self.environment(**env),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def done(self) -> list[str]:
        """Take what was done since the last time: "trace" and "compile", each a line."""
        found = self.log.read_text().split() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found

    def end(self, p: Started) -> Ran:
        """Wait for a process."""
        out, err = printed(p)
        return Ran(out.strip(), self.done(), p.returncode, err)

    def run(self, code: str, **env: str) -> Ran:
        """Run a process to its end, however that is."""
        self.done()
        return self.end(self.start(code, **env))

    def check(self, code: str, **env: str) -> Ran:
        """Run a process, which has to succeed."""
        ran = self.run(code, **env)
        assert ran.status == 0, f"{ran.status}: {ran.out}{ran.err}"
        return ran

    def jobs(self, **env: str) -> dict[str, dict[str, Any]]:
        """Have a process compile the job of ``app`` by each key, and compare with a fresh compile's bytes."""
        answer: dict[str, dict[str, Any]] = json.loads(self.check("instrument.jobs()", **env).out.splitlines()[-1])
        return answer
