"""Two machines that share a remote: the second one fetches what the first has compiled.

A machine is played by a cache directory and a helper of its own. The remote is a Redis
if that is installed, else a directory.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolchain import Toolchain
from worker import JOBS, WorkerError

if TYPE_CHECKING:
    import compile_log

JOB = "residual"
_PATIENCE = 300  # seconds

_MACHINE = f"""
import os, sys, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
import jitcache
from toolchain import Toolchain
from worker import JOBS
job = JOBS[{JOB!r}](Toolchain.load(sys.argv[1]))
start = time.perf_counter()
with jitcache.Cache() as cache:
    code = job.obtain(cache)
    seconds = time.perf_counter() - start
    job.check(code)
print(seconds)
"""


class Run(NamedTuple):
    """What a machine did."""

    seconds: float
    compiles: int


@contextmanager
def _remote(folder: Path) -> Iterator[tuple[str, str]]:
    """Start a remote; yield its URL and its name for people."""
    program = shutil.which("redis-server")
    if program is None:
        (folder / "shared").mkdir()
        yield f"file://{folder}/shared", "a shared directory"
        return
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            end = time.monotonic() + 60
            while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
                if time.monotonic() > end:
                    raise WorkerError("redis-server does not answer")
                time.sleep(0.01)
            yield f"redis://127.0.0.1:{port}", "a Redis"
        finally:
            server.kill()


def run(folder: Path, settings: Path, bells: compile_log.Bells, toolchain: Toolchain) -> tuple[str, list[Run]]:
    """Compile on one machine, and then on another. Raises WorkerError."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    runs = []
    with _remote(folder) as (url, what):
        for name in ("first", "second"):
            runtime = folder / f"{name}-run"
            runtime.mkdir(mode=0o700)
            env = {
                **os.environ, "JITCACHE_DIR": str(folder / name), "XDG_RUNTIME_DIR": str(runtime),
                "JITCACHE_REMOTE": f"{url}|trust=unsigned",
            }  # fmt: skip
            before = bells.count(JOBS[JOB](toolchain).file_name)
            seconds = _ask([sys.executable, "-c", _MACHINE, str(settings)], env)
            _ask([sys.executable, "-m", "jitcache", "remote", "flush"], env)  # as at the end of a job
            runs.append(Run(float(seconds), bells.count(JOBS[JOB](toolchain).file_name) - before))
    return what, runs


def _ask(command: list[str], env: dict[str, str]) -> str:
    p = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    if p.returncode != 0:
        raise WorkerError(f"two machines: {' '.join(command[1:3])} failed\n{(p.stdout + p.stderr).strip()[-4000:]}")
    return p.stdout


def problems(runs: list[Run]) -> list[str]:
    """Return what was wrong."""
    compiles = [r.compiles for r in runs]
    return [] if compiles == [1, 0] else [f"two machines: {compiles} compiles, expected [1, 0]"]
