"""The C and C++ compilers of this machine, as commands and as single programs."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import build_library


def c() -> list[str]:
    """The C compiler that the library is built with.

    Tests call it with -O1 or more: for code that is not optimized, zig first builds another runtime, for 15 s.
    """
    return build_library.find_cc() or ["cc"]


def cpp() -> list[str]:
    """The C++ compiler beside it."""
    cc = c()
    if cc[-2:] == ["ziglang", "cc"]:
        return [*cc[:-1], "c++"]
    cxx = {"gcc": "g++", "clang": "clang++"}.get(Path(cc[0]).name, "c++")
    return [cxx if shutil.which(cxx) else "c++"]


def script(path: Path, command: list[str]) -> Path:
    """Make a program that runs a command of one or more words. Its path is resolved now, so it does not call itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = [shutil.which(command[0]) or command[0], *command[1:]]
    draft = path.with_name(f"{path.name}.draft")
    draft.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    draft.chmod(0o755)
    draft.replace(path)
    return path


def variables() -> dict[str, str]:
    """Return CC and CXX for CMake, which wants one word each; nothing if CMake finds compilers by itself."""
    if shutil.which("cc") and shutil.which("c++"):
        return {}
    folder = ROOT / "build" / "test" / "compilers"
    return {"CC": str(script(folder / "cc", c())), "CXX": str(script(folder / "c++", cpp()))}
