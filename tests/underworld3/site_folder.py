"""A site: a compiler that notes each run, a directory for the cache, and processes that solve there."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from job import ROOT, Ended, end, start

sys.path.insert(0, str(ROOT))

import pytest
from bell import Bell

import build_library

#: For the cache that is replaced, which is ``old``, and for ours.
OLD = pytest.param(True, id="its-own")
both = pytest.mark.parametrize("old", [OLD, pytest.param(False, id="jitcache")])

MEMBER = Path(__file__).with_name("member.py")
F, G = "constants[0]*u[0] + 1.0", "constants[0]*u[0] + 2.0"


class Site:
    """Where solvers run. ``old`` is the fake's own cache, which is a model of underworld3's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "jit"
        self.temp = folder / "tmp"
        self.temp.mkdir()
        self.bell = Bell(folder / "bell")
        self.compiler = self.make_compiler("cc")

    def make_compiler(self, name: str, first: str = "", real: str = "") -> Path:
        """Make a script that runs a compiler, and rings whenever it compiles; ``first`` it does what is said."""
        found = shlex.split(real) if real else build_library.find_cc()
        assert found is not None
        path = self.folder / name
        path.write_text(
            f'#!/bin/sh\ncase " $* " in *" -c "*)\n{first}\n{self.bell.script}\n;; esac\nexec {shlex.join(found)} "$@"\n'
        )
        path.chmod(0o755)
        return path

    def make_counted_cc1(self, first: str) -> Path:
        """Make a compiler of which the program is counted that compiles, gcc's cc1; its driver does ``first``."""
        gcc = shutil.which("gcc")
        if gcc is None:
            pytest.skip("gcc is not installed")
        cc1 = subprocess.run([gcc, "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
        own = self.folder / "programs" / "cc1"
        own.parent.mkdir()
        own.write_text(f'#!/bin/sh\n{self.bell.script}\nexec {shlex.quote(cc1)} "$@"\n')
        driver = self.folder / "driver"
        driver.write_text(f'#!/bin/sh\n{first}\nexec {shlex.quote(gcc)} -B{own.parent}/ "$@"\n')
        for program in (own, driver):
            program.chmod(0o755)
        return driver

    def compiles(self) -> int:
        """How often the compiler has run since the last time it was asked."""
        return self.bell.rung()

    def begin(
        self, ranks: int = 0, mpi: str = "mpich", env: dict[str, Any] | None = None, **request: Any
    ) -> subprocess.Popen[str]:
        """Start a process, or a job of ranks, that does what is requested (member.py)."""
        more = {"CC": self.compiler, "UW_JIT_CACHE_DIR": self.cache, "TMPDIR": self.temp}
        whole = {"callbacks": [F], "constants": ["A"], **request}
        return start(mpi, ranks, [MEMBER, json.dumps(whole)], **{**more, **(env or {})})

    def run(self, ranks: int = 0, limit: float = 60, **more: Any) -> Ended:
        return end(self.begin(ranks, **more), limit)

    def solve(self, ranks: int = 0, *, callbacks: tuple[str, ...] = (F,), **more: Any) -> int:
        """Solve; all values must be right. Return how often the compiler ran."""
        self.compiles()
        ended = self.run(ranks, callbacks=list(callbacks), **more)
        assert ended.status == 0, ended.text
        assert len(ended.said) == max(1, ranks), ended.text
        assert all(line.get("right") for line in ended.said), ended.text
        return self.compiles()

    def tried(self, ranks: int = 0, **more: Any) -> str:
        """Solve; return "right" and the compiles, or what went wrong: "wrong", "error", "died", "hangs"."""
        self.compiles()
        try:
            ended = self.run(ranks, **more)
        except AssertionError:
            self.compiles()
            return "hangs"
        if len(ended.said) < max(1, ranks):
            return "died"
        if any("error" in line for line in ended.said):
            return "error"
        if not all(line["right"] for line in ended.said):
            return "wrong"
        return f"right {self.compiles()}"

    def modules(self) -> list[Path]:
        """The files that hold modules, in the old layout or in entries."""
        entries = [file for file in self.cache.glob("v1/entries/*/*.jce") if b"PyInit_" in file.read_bytes()]
        return sorted([*self.cache.glob("*.so"), *entries])
