"""A folder with a cache, and processes that compile with Warp in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import projects

HERE = Path(__file__).resolve().parent

#: What every process begins with. ``program.py`` has the kernel that most tests compile.
BEGIN = """
import json, os, sys
import warp as wp
import instrument
wp.config.quiet = True
wp.config.kernel_cache_dir = os.environ["OWN"]
wp.init()
import jitcache
import jitcache.adapters.warp as adapter
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
def say(**what):
    print(json.dumps(what), flush=True)
def call():
    import program
    a = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu")
    wp.launch(program.k, dim=3, inputs=[a], device="cpu")
    say(result=a.numpy().tolist())
"""

PROGRAM = """
import warp as wp

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = wp.sin(a[i]) * {factor}
"""

OURS = "assert adapter.install()\n"
CALL = "call()\n"
#: All begin at once.
AT_ONCE = "ready()\n" + CALL


class Project(projects.Project):
    """The same for Warp, and the program."""

    BEGIN = BEGIN
    FOREIGN = ("WARP_",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, HERE)
        self.write()

    def write(self, factor: str = "2.0") -> None:
        """Write the program."""
        (self.folder / "program.py").write_text(PROGRAM.format(factor=factor))

    def objects(self) -> list[Path]:
        """Return the objects in Warp's folder."""
        return sorted(self.own.rglob("wp_*/*.o"))

    def forget(self) -> None:
        """Take what is in Warp's folder: another machine, or another user."""
        if self.own.exists():
            subprocess.run(["rm", "-r", str(self.own)], check=True)
