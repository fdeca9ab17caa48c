"""underworld3's cache kept by jitcache, tested on a fake of it; and controls, also with underworld3's own cache."""

from __future__ import annotations

import sys
from glob import glob

from . import mpi, without
from .common import BUILD, Count, log_of, pytest, total, venv
from .control import python_red
from .python import interpreters

FOLDER = "tests/underworld3"
AREA = "underworld3"

#: These must fail if records lack the environment.
CONTROLS = [
    "test_table.py::test_wrapper[mpicc.openmpi-OMPI_CFLAGS-jitcache]",
    "test_table.py::test_wrapper[mpicc.mpich-MPICH_CC-jitcache]",
    "test_ranks.py::test_rank_with_other_variables_compiles_for_itself[two machines]",
]


def tests() -> Count:
    log_of(AREA).unlink(missing_ok=True)
    if not mpi.ready(AREA) or not _others(AREA):
        return Count(0, 0, 1)
    return total([pytest(AREA, sys.executable, FOLDER), controls()])


def rest() -> Count:
    """Test underworld3's own cache, which shows why there is an adapter, and that each row can fail."""
    area = "underworld3-rest"
    if not mpi.ready(area) or not _others(area):
        return Count(0, 0, 1)
    return pytest(area, sys.executable, FOLDER)


def controls() -> Count:
    """Records lack the environment, and its tests must fail."""
    folder = BUILD / "controls" / "environment-not-kept"
    without.library(folder, "noenvironment")
    return total([python_red(AREA, "environment not kept", f"{FOLDER}/{node}", folder) for node in CONTROLS])


def _others(area: str) -> bool:
    """Make environments with another version of Python, and with one that can load Debian's PETSc."""
    found = interpreters()
    other = next((found[v] for v in ("3.12", "3.10") if v in found), None)
    if other is not None and venv(area, "other-python", mpi.NEEDS[:1] + mpi.NEEDS[2:], other) is None:
        return False
    petsc = glob("/usr/lib/petscdir/*/*/lib/python3/dist-packages/petsc4py")
    own = sys.executable if sys.version_info[:2] == (3, 11) else found.get("3.11")
    if petsc and own is not None:
        return venv(area, "petsc", [*mpi.NEEDS, "numpy<2"], own) is not None
    return True
