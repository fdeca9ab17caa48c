"""A folder with a cache, and processes that compile with JAX in it."""

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

#: What every process begins with. f is the program that most tests compile, X what it is called with.
BEGIN = """
import json, os, sys, warnings
import instrument
import jax, jax.numpy as jnp, numpy as np
import jitcache
import jitcache.adapters.jax as adapter
X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
def f(x):
    return jnp.sin(x) @ x.T + 1
def ready():
    print("ready", flush=True)
    sys.stdin.readline()
def say(**what):
    print(json.dumps(what), flush=True)
def call():
    say(result=np.asarray(jax.jit(f)(X)).tolist())
"""

OURS = "assert adapter.install() == 'lease'\n"
#: JAX's own cache, set to keep everything.
OWN = """
jax.config.update("jax_compilation_cache_dir", os.environ["OWN"])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
"""
CALL = "call()\n"
#: All begin at once.
AT_ONCE = "ready()\n" + CALL


class Project:
    """Where the caches lie: ``cache``, and ``own`` of JAX's."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.cache, self.own = folder, folder / "cache", folder / "own"
        self._log = folder / "compiled"

    def environment(self, **env: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", "JAX_", "XLA_"))}
        library = {k: v for k, v in os.environ.items() if k == "JITCACHE_LIBRARY"}
        return {
            **kept,
            **library,
            "PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT / "python")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "settings"),
            "JITCACHE_DIR": str(self.cache),
            "JAX_PLATFORMS": "cpu",
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
            assert p.stdout.readline() == "ready\n", p.stderr.read()
        for p in processes:
            p.stdin.write("go\n")
            p.stdin.flush()
        return [self.end(p)[-1] for p in processes]

    def compiled(self, name: str | None = "jit_f") -> int:
        """Take how often XLA has compiled a program, or any, since the last time."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return sum(name in (None, line) for line in lines)

    def wait_for_compile(self, name: str = "jit_f") -> None:
        """Wait until XLA has begun to compile a program."""
        end = time.monotonic() + 60
        while not (self._log.exists() and name in self._log.read_text().splitlines()):
            assert time.monotonic() < end, "no compile has begun"
            time.sleep(0.01)

    def entries(self) -> list[Path]:
        """Return the files of the entries."""
        return sorted(p for name in ("v1/entries", "unverified") for p in (self.cache / name).rglob("*") if p.is_file())


def kill(p: subprocess.Popen[str]) -> None:
    """End a process with SIGKILL."""
    p.send_signal(signal.SIGKILL)
    p.communicate()
