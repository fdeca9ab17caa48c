"""C programs of the tests: compiled, and run in a folder of their own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import builds

import build_library

ROOT = builds.BUILD.parent
STRICT = ["-Wall", "-Wextra", "-Werror"]


def compile(out: Path, sources: list[Path], *flags: str, library: Path | None = None) -> Path:
    """Compile a program, against a library if one is given."""
    cc = build_library.find_cc() or ["cc"]
    if any(s.suffix == ".cpp" for s in sources):
        cc = [{"gcc": "g++", "clang": "clang++"}.get(Path(cc[0]).name, "c++")]
        flags = ("-std=c++11", *flags)
    else:
        flags = ("-std=gnu11", *flags)
    link = [f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", "-ljitcache"] if library else []
    include = f"-I{builds.BUILD / 'include'}"
    command = [*cc, "-O1", "-g", *STRICT, *flags, include, *map(str, sources), "-o", str(out), *link, "-lpthread"]
    p = subprocess.run([*command, "-ldl"], capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stderr
    return out


def understood(flag: str) -> bool:
    """Say whether the compiler takes a flag and can link what it makes."""
    cc = build_library.find_cc() or ["cc"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("int main(void) { return 0; }\n")
        command = [*cc, flag, str(source), "-o", f"{folder}/empty"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(program: Path, *args: object, timeout: float = 200, **env: str) -> tuple[int, str]:
    """Run a program to its end; return status and what it printed. One that hangs fails the test."""
    command = [str(program), *map(str, args)]
    p = subprocess.run(
        command,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    return p.returncode, p.stdout
