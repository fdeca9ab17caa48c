"""Debian's PETSc in the same process, loaded before jitcache and after it."""

from __future__ import annotations

import os
import shutil
from glob import glob
from pathlib import Path

import job
import pytest
from site_folder import Site

DIRS = [d for d in sorted(glob("/usr/lib/petscdir/*/*")) if Path(d, "lib/python3/dist-packages/petsc4py").is_dir()]
MPIRUN = shutil.which("mpirun")


@pytest.mark.skipif(
    not DIRS or MPIRUN is None or not (job.VENVS / "petsc" / "ready").exists(),
    reason="petsc4py is not installed (tests/deps-ci.sh)",
)
@pytest.mark.parametrize("order", ["before", "after"])
def test_petsc_in_the_same_process(site: Site, order: str) -> None:
    own = job.VENVS / "petsc" / "bin" / "mpirun"
    if not own.exists():
        own.symlink_to(str(MPIRUN))
    env = {
        "PETSC_DIR": DIRS[0],
        "PYTHONPATH": os.pathsep.join([str(job.ROOT / "python"), f"{DIRS[0]}/lib/python3/dist-packages"]),
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl": "self,vader",
        "OMPI_MCA_orte_tmpdir_base": site.temp,
    }
    for compiles in (1, 0):
        site.compiles()
        ended = site.run(2, mpi="petsc", petsc=order, env=env)
        assert ended.status == 0, ended.text
        assert [(line["right"], line["sum"]) for line in ended.said] == [(True, 16.0)] * 2, ended.text
        assert site.compiles() == compiles
    # How PETSc was configured is in the key: without it there is nothing to be had.
    assert site.solve() == 1
