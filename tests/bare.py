#!/usr/bin/env python3
"""Run a command as on a machine that has neither Go nor a C compiler.

    python3 tests/bare.py [--clone] [--keep DIR] COMMAND...

PATH is a folder of links to all programs of the former PATH, without compilers, linkers,
Go, and Pythons of other versions. HOME is empty. Only tests that tests/skips.txt names
for "bare" may be skipped. --clone runs the command in a fresh clone of this checkout's
last commit, in a temporary folder that is removed, or in DIR.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The programs of compilers' packages. A version may follow a name, and a machine may precede it.
TOOLS = (
    "go gofmt musl-gcc gcc g++ c++ cc c89 c99 clang clang++ clang-cpp cpp tcc zig nvcc gfortran f77 f95 "
    "mpicc mpicxx mpic++ mpiCC mpicxx.openmpi mpicc.openmpi mpic++.openmpi opal_wrapper "
    "ld gold lld ld.lld ld.gold ld.bfd as ar nm ranlib strip objcopy objdump readelf size gcc-ar gcc-nm gcc-ranlib"
)
_TOOL = re.compile(rf"(?:[a-z0-9_]+-(?:[a-z0-9]+-)+)?(?:{'|'.join(re.escape(t) for t in TOOLS.split())})(?:-[0-9.]+)?")
_OTHER_PYTHON = re.compile(rf"python(?!3$|3\.{sys.version_info[1]}$)[0-9.]+")


def path_without_compilers(folder: Path) -> None:
    """Fill a folder with links to the programs in PATH, in its order, without compilers."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    for place in os.environ["PATH"].split(os.pathsep):
        for file in sorted(Path(place).iterdir()) if os.path.isdir(place) else ():
            if file.name in seen or _TOOL.fullmatch(file.name) or not os.access(file, os.X_OK):
                continue
            if _OTHER_PYTHON.fullmatch(file.name):
                continue
            seen.add(file.name)
            (folder / file.name).symlink_to(file)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a command without Go and C compilers.")
    parser.add_argument("--clone", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jitcache-bare-") as name:
        top = a.keep.resolve() if a.keep else Path(name)
        top.chmod(0o755)  # tests become other users, who need the programs too
        path_without_compilers(top / "bin")
        (top / "home").mkdir()
        where = Path.cwd()
        if a.clone:
            where = top / "jitcache"
            subprocess.run(["git", "clone", "-q", str(ROOT), str(where)], check=True)
        away = ("CC", "CXX", "GO", "GOROOT", "GOPATH", "XDG_CACHE_HOME", "VIRTUAL_ENV", "PYENV_ROOT")
        env = {k: v for k, v in os.environ.items() if k not in away}
        env.update(PATH=str(top / "bin"), HOME=str(top / "home"), JITCACHE_TEST_SKIPS="bare")
        return subprocess.run(a.command, cwd=where, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
