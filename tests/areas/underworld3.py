"""underworld3's cache kept by jitcache, tested on a fake of it; and controls, also with underworld3's own cache."""

from __future__ import annotations

import sys
from glob import glob

from . import control, mpi
from .common import Count, log_of, pytest, total, venv
from .python import interpreters

FOLDER = "tests/underworld3"
AREA = "underworld3"


def tests() -> Count:
    log_of(AREA).unlink(missing_ok=True)
    if not mpi.ready(AREA) or not _others(AREA):
        return Count(0, 0, 1)
    return total([pytest(AREA, sys.executable, FOLDER), control.of_area(AREA)])


def rest() -> Count:
    """Test underworld3's own cache, which shows why there is an adapter, and that each row can fail."""
    area = "underworld3-rest"
    if not mpi.ready(area) or not _others(area):
        return Count(0, 0, 1)
    return pytest(area, sys.executable, FOLDER)


def _others(area: str) -> bool:
    """Make environments with another version of Python, with gmsh, and with one that can load Debian's PETSc."""
    found = interpreters()
    other = next((found[v] for v in ("3.12", "3.10") if v in found), None)
    if other is not None and venv(area, "other-python", mpi.NEEDS[:1] + mpi.NEEDS[2:], other) is None:
        return False
    venv(area, "gmsh", [*mpi.NEEDS, mpi.MPIS["mpich"], "gmsh"])  # not for every machine
    petsc = glob("/usr/lib/petscdir/*/*/lib/python3/dist-packages/petsc4py")
    own = sys.executable if sys.version_info[:2] == (3, 11) else found.get("3.11")
    if petsc and own is not None:
        return venv(area, "petsc", [*mpi.NEEDS, "numpy<2"], own) is not None
    return True
