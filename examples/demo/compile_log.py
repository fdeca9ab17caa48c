"""The compile log: which compilers ran, reported by the compilers themselves.

A script replaces the C compiler, and a library replaces NVRTC (compiles.c). They write
nothing, because a result that leaves files behind is not kept. When they compile, they
ring a bell: they open a file, the kernel tells the demo, and the demo writes a line.
The cache has no part in this, so the log can be compared with the cache's own figures.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_OPEN, _CLOSE = 0x20, 0x10  # IN_OPEN, IN_CLOSE_NOWRITE
_RINGS = 64  # how often a compile opens its bell (compiles.c); the cache opens it a few times at most


class Bells:
    """A folder with a file for each source. A compiler opens the file of its source _RINGS times."""

    def __init__(self, folder: Path, sources: Iterable[str], file: Path) -> None:
        self.file = file
        folder.mkdir(exist_ok=True)
        for source in sources:
            (folder / source).write_text("bell\n")
        libc = ctypes.CDLL(None, use_errno=True)
        self._watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # Opening and closing: the kernel merges equal events that follow each other.
        if libc.inotify_add_watch(self._watch, os.fsencode(folder), _OPEN | _CLOSE) < 0:
            raise OSError(ctypes.get_errno(), f"{folder}: cannot be watched")

    def count(self, source: str) -> int:
        """Write a line for each compile since the last call; return how many lines are about a source."""
        self._write_down()
        return sum(source in line.split() for line in self.file.read_text().splitlines())

    def _write_down(self) -> None:
        opened: dict[str, int] = {}
        while True:
            try:
                events = os.read(self._watch, 1 << 16)
            except BlockingIOError:
                break
            at = 0
            while at < len(events):
                _, mask, _, size = struct.unpack_from("iIII", events, at)
                name = os.fsdecode(events[at + 16 : at + 16 + size].rstrip(b"\0"))
                at += 16 + size
                opened[name] = opened.get(name, 0) + (mask & _OPEN != 0)
        with open(self.file, "a", encoding="utf-8") as log:
            for name, times in opened.items():
                log.write(f"compiled {name}\n" * (times // _RINGS))


def wrap_nvrtc(library: Path, compiler: list[str], real: str, bells: Path) -> None:
    """Build a library that rings the bells in a folder, and calls the real one to compile."""
    source = Path(__file__).with_name("compiles.c")
    command = [*compiler, "-shared", "-fPIC", "-O1", f'-DCOMPILE_BELLS="{bells}"', str(source), "-o", str(library)]
    subprocess.run([*command, "-Wl,--no-as-needed", real, f"-Wl,-rpath,{Path(real).parent}", "-ldl"], check=True)


def wrap(script: Path, compiler: list[str], bells: Path) -> None:
    """Write a script that rings the bell of each source among its arguments, and runs the compiler."""
    ring = f": <{shlex.quote(str(bells))}/$bell; " * _RINGS
    script.write_text(
        "#!/bin/sh\nfor word; do\n\tbell=${word##*/}\n"
        f'\tif [ -n "$bell" ] && [ -f {shlex.quote(str(bells))}/"$bell" ]; then\n\t\t{ring}\n\tfi\ndone\n'
        f'exec {shlex.join(compiler)} "$@"\n'
    )
    script.chmod(0o755)
