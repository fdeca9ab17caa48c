"""This checkout: its modules, a copy of it that may be built in, and commands that have to succeed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "cmake"), str(ROOT / "packages"), str(ROOT / "tests")]


def known() -> list[str]:
    """What git knows of this checkout, or would."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (ROOT / name).is_file()]


def copy_to(folder: Path) -> Path:
    for name in known():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> str:
    """Run a command, which has to succeed; return what it printed."""
    p = subprocess.run(command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    return p.stdout
