"""Which compilers really ran, as the compilers themselves report.

Every run of a compiler appends a line to one file: a library that stands in the
place of NVRTC's (compiles.c) does that, and a script in the place of the C
compiler. The cache has no part in it, so that it can be held against what the
cache says of itself.
"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path


def count(file: Path, source_name: str) -> int:
    """Return how many lines are about this source file."""
    if not file.exists():
        return 0
    return sum(source_name in line.split() for line in file.read_text().splitlines())


def wrap_nvrtc(library: Path, compiler: list[str], real: str, file: Path) -> None:
    """Build a library that writes to the file, and lets the real one do the work."""
    source = Path(__file__).with_name("compiles.c")
    command = [*compiler, "-shared", "-fPIC", "-O1", f'-DCOMPILE_LOG="{file}"', str(source), "-o", str(library)]
    subprocess.run([*command, "-Wl,--no-as-needed", real, f"-Wl,-rpath,{Path(real).parent}", "-ldl"], check=True)


def wrap(script: Path, compiler: list[str], file: Path) -> None:
    """Write a script that runs the compiler and appends its arguments to the file first."""
    script.write_text(
        "#!/bin/sh\n"
        f"printf '%s\\n' \"cc $* (process $$)\" >> {shlex.quote(str(file))}\n"
        f'exec {shlex.join(compiler)} "$@"\n'
    )
    script.chmod(0o755)
