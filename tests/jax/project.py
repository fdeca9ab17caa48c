"""A folder with a cache, and processes that compile with JAX in it."""

from __future__ import annotations

from pathlib import Path

import projects
from prepared import Prepared

HERE = Path(__file__).resolve().parent

#: Variables of the user's that JAX and XLA read.
FOREIGN = ("JAX_", "XLA_")

#: Variables that only instrument.py and the code of tests read. A row that has another one starts anew.
FREE = {"CPU", "PORT", "SLEEP", "SLOW"}

#: They make no client of XLA, whose threads a child of fork would not have.
IMPORTS = ["jax", "jax.numpy"]
PREPARED = Prepared(IMPORTS, projects.environment(FOREIGN, JAX_PLATFORMS="cpu"), projects.FREE | FREE)

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


class Project(projects.Project):
    """The same for JAX."""

    BEGIN = BEGIN
    FOREIGN = FOREIGN
    PREPARED = PREPARED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, HERE)

    def environment(self, **env: str) -> dict[str, str]:
        return super().environment(**{"JAX_PLATFORMS": "cpu", **env})

    def compiled(self, name: str | None = "jit_f") -> int:
        """Take how often XLA has compiled a program, or any, since the last time."""
        return super().compiled(name)

    def wait_for_compile(self, name: str | None = "jit_f") -> None:
        """Wait until XLA has begun to compile a program."""
        super().wait_for_compile(name)

    def entries(self) -> list[Path]:
        """Return the files of the entries."""
        return sorted(p for name in ("v1/entries", "unverified") for p in (self.cache / name).rglob("*") if p.is_file())
