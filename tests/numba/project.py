"""A folder of sources, and processes that use it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

from processes import printed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Ran(NamedTuple):
    """What a process printed and how it ended, and which functions it compiled."""

    out: str
    compiled: list[str]
    status: int
    err: str


class Project:
    """Sources in ``folder``; Numba's own cache goes beside them, ours in ``cache``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder.parent / "cache"
        self.log = folder.parent / "compiles"
        self.home = folder.parent / "home"
        folder.mkdir()
        self.home.mkdir()

    def write(self, **files: str) -> None:
        """Write modules, by name."""
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text("import numba\n" + textwrap.dedent(text))

    def environment(self, cache: str, **env: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", "NUMBA_", "XDG_"))}
        library = {k: v for k, v in os.environ.items() if k == "JITCACHE_LIBRARY"}
        return {
            **kept,
            **library,
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(HERE), str(ROOT / "python")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.home),
            "JITCACHE_DIR": str(self.cache),
            "PROJECT": str(self.folder),
            "COMPILE_LOG": str(self.log),
            "CACHE": cache,
            **env,
        }

    def start(
        self, code: str, cache: str = "jitcache", *, stdin: bool = False, waits: bool = False, **env: str
    ) -> subprocess.Popen[str]:
        """Start a process on a piece of code, which is its standard input, or waits for that, if one says so."""
        text = "import instrument\n" + textwrap.dedent(code)
        command = [sys.executable, "-"] if stdin else [sys.executable, "-c", text]
        p = subprocess.Popen(
            command,
            env=self.environment(cache, **env),
            cwd=self.home,
            stdin=subprocess.PIPE if stdin or waits else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if stdin:
            assert p.stdin is not None
            p.stdin.write(text)
        return p

    def compiled(self) -> list[str]:
        """Take the names of the functions that were compiled since the last time."""
        found = self.log.read_text().split() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found

    def end(self, p: subprocess.Popen[str]) -> Ran:
        """Wait for a process."""
        out, err = printed(p)
        return Ran(out.strip(), self.compiled(), p.returncode, err)

    def run(self, code: str, cache: str = "jitcache", **more: object) -> Ran:
        """Run a process to its end, however that is."""
        self.compiled()
        return self.end(self.start(code, cache, **more))

    def check(self, code: str, cache: str = "jitcache", **more: object) -> Ran:
        """Run a process, which has to succeed."""
        ran = self.run(code, cache, **more)
        assert ran.status == 0, f"{ran.status}: {ran.out}{ran.err}"
        return ran
