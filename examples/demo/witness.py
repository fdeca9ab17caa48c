"""The witness: who really ran a compiler, told by the compilers' side.

Every run of a compiler appends a line to one file. For NVRTC the line is written
at the call of nvrtcCompileProgram (nvrtc.py); for the C compiler by a script that
stands in its place. The cache has no part in it, so that it can be held against
what the cache says of itself.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def note(file: Path, line: str) -> None:
    """Append a line; one write, so that lines of several processes stay whole."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(fd, f"{line} (process {os.getpid()})\n".encode())
    finally:
        os.close(fd)


def count(file: Path, source_name: str) -> int:
    """Return how many lines are about this source file."""
    if not file.exists():
        return 0
    return sum(source_name in line.split() for line in file.read_text().splitlines())


def wrap(script: Path, compiler: list[str], file: Path) -> None:
    """Write a script that runs the compiler and appends its arguments to the file first."""
    script.write_text(
        "#!/bin/sh\n"
        f"printf '%s\\n' \"cc $* (process $$)\" >> {shlex.quote(str(file))}\n"
        f'exec {shlex.join(compiler)} "$@"\n'
    )
    script.chmod(0o755)
