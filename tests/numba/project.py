"""A folder of sources, and processes that use it."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from plain_answers import PlainAnswers
from prepared import Prepared, Started
from processes import printed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: SciPy's is what a first compile imports if it is there; all of Numba's own that it imports then is left to the row.
IMPORTS = ["llvmlite.binding", "numba", *(["scipy.linalg.cython_blas"] if importlib.util.find_spec("scipy") else [])]

#: Variables that only instrument.py, jitcache and the code of tests read. A row that has another one starts anew.
FREE = (
    "CACHE", "COMPILE_LOG", "CPU", "F", "FAIL", "FILTER", "HOLD", "JITCACHE_DIR", "K", "LLVM_LOG", "N", "OPTION", "PROJECT",
    "SLOW",
    "VALUE", "VERSION", "WITHOUT",
)  # fmt: skip


def environment() -> dict[str, str]:
    """Return what all processes have of the tester's environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", "NUMBA_", "XDG_"))}
    library = {k: v for k, v in os.environ.items() if k == "JITCACHE_LIBRARY"}
    return {**kept, **library, "PYTHONDONTWRITEBYTECODE": "1"}


PREPARED = Prepared(IMPORTS, environment(), FREE)


@functools.cache
def plain_answers() -> PlainAnswers:
    return PlainAnswers("numba")


def told() -> list[str]:
    """Return lines that say how processes were started, and whence the answers of a plain Numba are."""
    answers = plain_answers()
    return [PREPARED.told(), f"answers of a plain Numba: {answers.taken} kept, {answers.made} made"]


class Ran(NamedTuple):
    """What a process printed and how it ended, and which functions it compiled."""

    out: str
    compiled: list[str]
    status: int
    err: str
    by_llvm: list[str]  # the libraries that LLVM compiled


def taken(log: Path) -> list[str]:
    """Return the lines of a log, and remove it."""
    found = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return found


class Project:
    """Sources in ``folder``; Numba's own cache goes beside them, ours in ``cache``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder.parent / "cache"
        self.log = folder.parent / "compiles"
        self.llvm_log = folder.parent / "libraries"
        self.home = folder.parent / "home"
        folder.mkdir()
        self.home.mkdir()

    def write(self, **files: str) -> None:
        """Write modules, by name."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text("import numba\n" + textwrap.dedent(text))

    def environment(self, cache: str, **env: str) -> dict[str, str]:
        return {
            **environment(),
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(HERE), str(ROOT / "python")]),
            "HOME": str(self.home),
            "JITCACHE_DIR": str(self.cache),
            "PROJECT": str(self.folder),
            "COMPILE_LOG": str(self.log),
            "LLVM_LOG": str(self.llvm_log),
            "CACHE": cache,
            **env,
        }

    def start(
        self,
        code: str,
        cache: str = "jitcache",
        *,
        stdin: bool = False,
        waits: bool = False,
        fresh: str = "",
        **env: str,
    ) -> Started:
        """Start a process on a piece of code, which is its standard input, or waits for that, if one says so.

        It is forked from one that has imported Numba, unless ``fresh`` says why it has to start anew, or PREPARED does.
        """
        text = "import instrument\n" + textwrap.dedent(code)
        env = self.environment(cache, **env)
        if not stdin:
            pipe = subprocess.PIPE if waits else subprocess.DEVNULL
            return PREPARED.start(text, env=env, cwd=self.home, stdin=pipe, fresh=fresh)
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        p = subprocess.Popen([sys.executable, "-"], env=env, cwd=self.home, text=True, **pipes)
        assert p.stdin is not None
        p.stdin.write(text)
        return p

    def compiled(self) -> list[str]:
        """Take the names of the functions that were compiled since the last time."""
        return taken(self.log)

    def end(self, p: Started) -> Ran:
        """Wait for a process."""
        out, err = printed(p)
        return Ran(out.strip(), self.compiled(), p.returncode, err, taken(self.llvm_log))

    def run(self, code: str, cache: str = "jitcache", **more: object) -> Ran:
        """Run a process to its end, however that is."""
        self.compiled()
        taken(self.llvm_log)
        return self.end(self.start(code, cache, **more))

    def check(self, code: str, cache: str = "jitcache", **more: object) -> Ran:
        """Run a process, which has to succeed."""
        ran = self.run(code, cache, **more)
        assert ran.status == 0, f"{ran.status}: {ran.out}{ran.err}"
        return ran

    def plain(self, code: str, **env: str) -> str:
        """Return what Numba without a cache prints, which may be known from an earlier session."""
        files = {
            str(path.relative_to(self.folder)): path.read_bytes().hex() if path.is_file() else ""
            for path in sorted(self.folder.rglob("*"))
        }
        row = json.dumps([files, textwrap.dedent(code), env, (HERE / "instrument.py").read_text()])
        return plain_answers().answer(row, lambda: self.check(code, "none", **env).out)
