"""A row about Triton: kernels that a Redis has and this machine has not, by its own remote cache and by ours."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple

import venvs
from ground import HERE, ROOT
from rows_remotes import redis
from runs import BenchError, Contender, Series
from workplace import Workplace

#: As the tests of the adapter have it.
PACKAGES = ("triton==3.9.0", "pytest>=8")

#: Kernels of a process. Each round starts one, imports Triton and makes its fingerprint: so many rounds.
_KERNELS, _SLOW = 30, 7


class _Machines(NamedTuple):
    """Processes, each on a machine of its own, that share a Redis."""

    python: str
    folder: Path
    shared: dict[str, str]

    def run(self, number: int) -> tuple[float, int]:
        """Run a process on a machine that nothing has run on; return microseconds for each kernel, and how many it compiled."""
        home = self.folder / f"machine-{number}"
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TRITON_", "PYTHON"))}
        env.update(self.shared, TRITON_CACHE_DIR=str(home / "triton"), JITCACHE_DIR=str(home / "jitcache"))
        command = [self.python, str(HERE / "triton_child.py"), str(_KERNELS)]
        p = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if p.returncode != 0:
            raise BenchError(f"triton_child.py: {(p.stderr.strip().splitlines() or ['failed'])[-1]}")
        took, compiled = p.stdout.split()
        return float(took), int(compiled)

    def hits(self) -> Callable[[], float]:
        """Return a round. The first machine compiles, and the Redis has all when it has ended."""
        if self.run(0)[1] != _KERNELS + 1:
            raise BenchError("triton_child.py: a kernel was there before")
        numbers = itertools.count(1)

        def run() -> float:
            took, compiled = self.run(next(numbers))
            if compiled:
                raise BenchError(f"triton_child.py: {compiled} kernels were not in the Redis")
            return took

        return run


def triton_remote(w: Workplace) -> Iterator[Series]:
    """From a kernel's source to its files in Triton's folder, where a Redis has them, after the first one of a process."""
    if shutil.which("redis-server") is None:
        w.notes["not measured"]["Triton's remote cache"] = "there is no redis-server"
        return
    try:
        python, client = (
            venvs.python_with(f"triton-{PACKAGES[0].partition('==')[2]}", *PACKAGES),
            venvs.folder_with("redis-py", "redis"),
        )
    except OSError as e:
        w.notes["not measured"]["Triton's remote cache"] = str(e)
        return
    with redis(w) as port:
        own = {
            "TRITON_CACHE_MANAGER": "triton.runtime.cache:RemoteCacheManager",
            "TRITON_REMOTE_CACHE_BACKEND": "triton.runtime.cache:RedisRemoteCacheBackend",
            "TRITON_REDIS_HOST": "127.0.0.1",
            "TRITON_REDIS_PORT": str(port),
            "PYTHONPATH": client,
        }
        ours = {
            "TRITON_CACHE_MANAGER": "jitcache.adapters.triton:Manager",
            "JITCACHE_REMOTE": f"redis://127.0.0.1:{port}|trust=unsigned",
            "JITCACHE_REMOTE_EXIT_WAIT": "60s",
            "PYTHONPATH": str(ROOT / "python"),
        }
        each = {"triton": own, "jitcache": ours}
        contenders = [
            Contender(name, _Machines(python, w.ready(f"triton-{name}"), shared).hits())
            for name, shared in each.items()
        ]
        yield Series("kernel", contenders, _SLOW)
