"""A folder with a cache, and processes that compile with Warp in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

from processes import printed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

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


class Project:
    """Where the caches lie: ``cache``, and ``own`` of Warp's."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.cache, self.own = folder, folder / "cache", folder / "own"
        self._log = folder / "compiled"
        self.write()

    def write(self, factor: str = "2.0") -> None:
        """Write the program."""
        (self.folder / "program.py").write_text(PROGRAM.format(factor=factor))

    def environment(self, **env: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", "WARP_"))}
        library = {k: v for k, v in os.environ.items() if k == "JITCACHE_LIBRARY"}
        return {
            **kept,
            **library,
            "PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT / "python"), str(self.folder)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "settings"),
            "JITCACHE_DIR": str(self.cache),
            "OWN": str(self.own),
            "COMPILED": str(self._log),
            **env,
        }

    def start(self, code: str, **env: str) -> subprocess.Popen[str]:
        """Start a process on a piece of code."""
        return subprocess.Popen(
            [sys.executable, "-c", BEGIN + textwrap.dedent(code)],
            env=self.environment(**env),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, p: subprocess.Popen[str]) -> list[Any]:
        """Wait for a process, which has to succeed, and return what it said, line by line."""
        out, err = printed(p)
        assert p.returncode == 0, f"{p.returncode}: {out}{err}"
        self.errors = err
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def run(self, code: str, **env: str) -> Any:
        """Run a process to its end and return what it said last."""
        return self.end(self.start(code, **env))[-1]

    def at_once(self, codes: list[str], **env: str) -> list[Any]:
        """Run processes that say ``ready`` and go on together; return what each said last."""
        processes = [self.start(code, **env) for code in codes]
        for p in processes:
            wait_for_ready(p)
        return [self.end(p)[-1] for p in processes]

    def compiled(self) -> int:
        """Take how often Warp has compiled since the last time."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return len(lines)

    def wait_for_compile(self) -> None:
        """Wait until Warp has begun to compile."""
        end = time.monotonic() + 60
        while not self._log.exists():
            assert time.monotonic() < end, "no compile has begun"
            time.sleep(0.01)

    def entries(self) -> list[Path]:
        """Return the files of the entries."""
        return sorted(p for p in (self.cache / "v1" / "entries").rglob("*") if p.is_file())

    def objects(self) -> list[Path]:
        """Return the objects in Warp's folder."""
        return sorted(self.own.rglob("wp_*/*.o"))

    def forget(self) -> None:
        """Take what is in Warp's folder: another machine, or another user."""
        if self.own.exists():
            subprocess.run(["rm", "-r", str(self.own)], check=True)


def wait_for_ready(p: subprocess.Popen[str]) -> None:
    """Wait until a process says that it is, and have it go on."""
    for line in p.stdout:
        if line == "ready\n":
            p.stdin.write("go\n")
            p.stdin.flush()
            return
    raise AssertionError(p.stderr.read())


def kill(p: subprocess.Popen[str]) -> None:
    """End a process with SIGKILL."""
    p.send_signal(signal.SIGKILL)
    p.communicate()
