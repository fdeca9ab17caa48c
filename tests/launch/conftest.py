"""The launcher, as programs use it: a process for each command, and a witness of what really ran."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "launch"))
sys.path.append(str(ROOT / "tests"))

#: A control build is another program.
PROGRAM = Path(os.environ.get("JITCACHE_TEST_LAUNCHER", ROOT / "build" / "lib" / "jitcache"))

#: What no run repeats: prints it, and writes it to each file that it is given. So equal
#: bytes are a replay, and others a run; no word of ours is needed for that.
RANDOM = """#!/bin/sh
dice=$(od -A n -N 16 -t x1 /dev/urandom)
for file; do echo "$dice" > "$file"; done
echo "$dice"
"""


class Place:
    """A folder, a cache, and an environment in which commands are launched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.tools = folder / "tools"
        self.tools.mkdir()
        (folder / "tmp").mkdir()
        self.cache = folder / "cache"
        keep = ("HOME", "LANG", "USER")
        self.env = {k: v for k, v in os.environ.items() if k in keep}
        self.env |= {
            "PATH": f"{self.tools}:/usr/local/bin:/usr/bin:/bin",
            "JITCACHE_DIR": str(self.cache),
            "TMPDIR": str(folder / "tmp"),
        }
        self.random = self.tool("random", RANDOM)

    def tool(self, name: str, text: str) -> Path:
        """Make a script that is found in PATH."""
        path = self.tools / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def plain(self, *words: Any, **more: Any) -> subprocess.CompletedProcess[bytes]:
        """Run a command."""
        env = {**self.env, **more.pop("env", {})}
        given = {"cwd": self.folder, "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 120, **more}
        return subprocess.run([str(w) for w in words], env=env, check=False, **given)

    def run(self, *words: Any, **more: Any) -> subprocess.CompletedProcess[bytes]:
        """Launch a command."""
        return self.plain(PROGRAM, "run", *words, **more)

    def start(self, *words: Any, **more: Any) -> subprocess.Popen[bytes]:
        """Launch a command, and do not wait."""
        given = {"cwd": self.folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **more}
        return subprocess.Popen([str(w) for w in (PROGRAM, "run", *words)], env=self.env, **given)

    def why(self, *words: Any, **more: Any) -> str:
        """Launch a command, and return what the log says of it."""
        log = self.cache.parent / "log"
        log.unlink(missing_ok=True)
        env = {**more.pop("env", {}), "JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(log)}
        said = self.run(*words, env=env, **more).stderr.decode()
        return said + (log.read_text() if log.exists() else "")

    def write(self, **files: str) -> None:
        """Write sources: a_c is a.c."""
        for name, text in files.items():
            (self.folder / ".".join(name.rsplit("_", 1))).write_text(text)

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def leftovers(self) -> list[str]:
        return [p.name for p in self.folder.rglob(".jitcache-*")]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    if not PROGRAM.exists():
        pytest.fail(f"{PROGRAM} is not there: make lib")
    return Place(tmp_path)


@pytest.fixture
def gcc() -> str:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    return "gcc"


def need(name: str) -> str:
    """Skip where a program is missing."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found
