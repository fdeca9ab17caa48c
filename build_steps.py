"""Show long steps of a build while they run, with the time that they take.

    python build_steps.py WHAT COMMAND...

runs a command as a step. On a terminal a step is one line, which is redrawn each
second, and ends with the time that the step took. Elsewhere a step prints a line when
it begins, and one every ten seconds. All goes to standard error. Programs that import
this module call show() first; otherwise steps are silent.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

#: Seconds between lines on a terminal, and elsewhere: the log of a long build has some lines for each step.
REDRAWN, REPEATED = 1.0, 10.0

_shown = False


def show() -> None:
    """Show the steps of this process from now on."""
    global _shown
    _shown = True


@contextlib.contextmanager
def step(what: str, to: TextIO | None = None) -> Iterator[None]:
    """Show what the block does, if steps are shown."""
    if not _shown:
        yield
        return
    out = to or sys.stderr
    drawn, began, over = out.isatty(), time.monotonic(), threading.Event()

    def line(end: str) -> None:
        seconds = int(time.monotonic() - began)
        took = f" {seconds} s" if seconds or drawn else ""
        out.write(f"\r{what}{took}\033[K{end}" if drawn else f"{what}{took}\n")
        out.flush()

    def repeat() -> None:
        while not over.wait(REDRAWN if drawn else REPEATED):
            line("")

    line("")
    teller = threading.Thread(target=repeat, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
        if drawn:
            line("\n")


def main() -> int:
    """Run a command, print its output when it has ended, and return its status."""
    what, *command = sys.argv[1:]
    show()
    with step(what):
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    sys.stdout.buffer.write(p.stdout)
    return p.returncode


if __name__ == "__main__":
    sys.exit(main())
