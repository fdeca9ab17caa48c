"""Run at the start of every process of Numba's own tests: installs the adapter, and watches for Numba's files."""

import os
import sys


def watch(event: str, args: tuple[object, ...]) -> None:
    """Write down who makes an index or data file of Numba's own."""
    if event == "open":
        made = args[:1] if int(args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else ()
    else:
        made = args[:2] if event == "os.rename" else ()
    if any(str(path).endswith((".nbi", ".nbc")) or ".nbi.tmp" in str(path) for path in made):
        with open(os.environ["NUMBA_FILES"], "a") as f:
            f.write(f"{event} {args}\n")


sys.addaudithook(watch)

import jitcache.adapters.numba

jitcache.adapters.numba.install()
