"""An installation by make install, and examples that are built against it alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

import compilers


def run(*command: str | Path, **more: str) -> str:
    """Run a command that must succeed, with more variables in its environment; return what it printed."""
    p = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    return p.stdout


def install(prefix: Path) -> Path:
    """Install this checkout's build; return the folder."""
    run(sys.executable, ROOT / "cmake" / "install.py", "--prefix", prefix)
    return prefix


def example(name: str, folders: pytest.TempPathFactory) -> Path:
    """Build an example with CMake and all warnings; return the program. Skip the test without CMake."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake here")
    prefix, build = install(folders.mktemp("prefix")), folders.mktemp("build")
    source = shutil.copytree(ROOT / "examples" / name, build / "source")
    strict = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -pedantic -Werror"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", strict, **compilers.variables())
    run("cmake", "--build", build)
    return build / name
