"""PETSc aborts the job on SIGURG, which Go sends itself unless it is told not to."""

from __future__ import annotations

import os
import shutil
import subprocess
from glob import glob
from pathlib import Path

import builds
import pytest
from conftest import ROOT

PYTHON = "/usr/bin/python3"  # Debian's, which has petsc4py
RANK = Path(__file__).with_name("rank.py")
KEYS = 6
ABORTED = 59  # PETSC_ERR_SIG


def petsc_dir() -> str:
    """Return where Debian keeps PETSc with petsc4py, "" if it does not."""
    found = [os.environ.get("PETSC_DIR", ""), *sorted(glob("/usr/lib/petscdir/*/*"))]
    return next((d for d in found if d and Path(d, "lib/python3/dist-packages/petsc4py").is_dir()), "")


pytestmark = pytest.mark.skipif(not petsc_dir(), reason="petsc4py is not installed (tests/deps-ci.sh)")


def job(folder: Path, ranks: int, order: str, library: Path | None = None, *options: str) -> tuple[int, str]:
    """Run a job to its end; return status and what it printed."""
    env = {
        **os.environ,
        "PETSC_DIR": petsc_dir(),
        "PYTHONPATH": str(ROOT / "python"),
        "JITCACHE_LIBRARY": str(library or builds.plain()),
        "OMPI_MCA_btl": "self,vader",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # A place of its own: jobs that run at once clash in the default one.
        "OMPI_MCA_orte_tmpdir_base": str(folder),
        "HWLOC_COMPONENTS": "-gl",
    }
    command = [PYTHON, str(RANK), order, str(folder), *options]
    if ranks > 1:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *command]
    p = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        text, _ = p.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        text, _ = p.communicate()
        raise AssertionError(f"the job hangs: {text}") from None
    return p.returncode, text


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("ranks", [1, 4])
def test_job_ends_well_and_one_rank_compiles(tmp_path: Path, ranks: int, order: str) -> None:
    if ranks > 1 and shutil.which("mpirun") is None:
        pytest.skip("mpirun is not installed")
    status, text = job(tmp_path, ranks, order)
    assert status == 0, f"{status}: {text}"
    assert [(tmp_path / f"rank-{n}").read_text() for n in range(ranks)] == [f"of {ranks}\n"] * ranks
    # The last key is that of the children.
    compiles = sorted(line.split(" pid ")[0] for line in (tmp_path / "compiles").read_text().splitlines())
    assert compiles == [f"key {n}" for n in range(KEYS + 1)], text


def test_control_preemption_aborts_the_job(tmp_path: Path) -> None:
    """Built with Go's preemption on, the library kills its host."""
    status, text = job(tmp_path, 1, "before", builds.control("preempt", preempt=True))
    assert status == ABORTED, f"{status}: {text}"
    assert "Caught signal" in text
    assert not (tmp_path / "rank-0").exists()


def test_control_preemption_is_harmless_where_petsc_does_not_listen(tmp_path: Path) -> None:
    """What ended the job above was PETSc's handler and nothing else."""
    status, text = job(tmp_path, 1, "before", builds.control("preempt", preempt=True), "-no_signal_handler")
    assert status != ABORTED and "PETSc does not catch SIGURG" in text
