"""Workers: new processes that ask for one job's result, and report it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import jitcache
from kernels import BlockSums, Saxpy
from refusals import write_down
from solver import Newton, Residual
from toolchain import Toolchain

if TYPE_CHECKING:
    from job import Job

JOBS: dict[str, type[Job]] = {job.name: job for job in (Saxpy, BlockSums, Residual, Newton)}
_READY = "ready"
_PATIENCE = 600  # seconds; a compile that hangs must not hang the demo


class WorkerError(Exception):
    """A worker failed; the text is the end of what it printed."""


class Answer(NamedTuple):
    """What a worker got for one request."""

    seconds: float  # to having the code, from opening the cache or from the answer before
    compiled: bool  # by this process
    digest: str  # of the code
    checked: str  # what was found right


def serve(settings: str, name: str, requests: int, wait: bool) -> None:
    """Do a worker's task: ask so many times, and print the answers as JSON. Raises Wrong."""
    toolchain = Toolchain.load(settings)
    os.environ["JITCACHE_NVRTC"] = toolchain.nvrtc
    write_down(toolchain.cache)
    job = JOBS[name](toolchain)
    if wait:
        print(_READY, flush=True)
        sys.stdin.readline()
    answers = []
    start = time.perf_counter()
    with jitcache.Cache(toolchain.cache) as cache:
        for _ in range(requests):
            code = job.obtain(cache)
            seconds = time.perf_counter() - start
            digest = hashlib.sha256(bytes(code)).hexdigest()
            answers.append(Answer(seconds, job.compiled, digest, job.check(code)))
            start = time.perf_counter()
    print(json.dumps(answers))


class Worker:
    """A worker process, seen from its parent."""

    def __init__(self, settings: Path, name: str, *, requests: int = 1, wait: bool = False) -> None:
        demo = Path(__file__).with_name("demo.py")
        command = [sys.executable, str(demo), "--worker", name, "--settings", str(settings)]
        command += ["--requests", str(requests), *(["--wait"] if wait else [])]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self._name = name
        if wait:
            assert self._process.stdout is not None
            self._process.stdout.readline()  # "ready", or nothing if it has died

    def answers(self) -> list[Answer]:
        """Let a worker that waits begin; return its answers."""
        try:
            out, err = self._process.communicate("go\n", timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            out, err = self._process.communicate()
            err += f"\nno answer after {_PATIENCE} seconds"
        if self._process.returncode != 0:
            raise WorkerError(f"{self._name}: a worker failed\n{err.strip()[-4000:]}")
        return [Answer(*a) for a in json.loads(out)]
