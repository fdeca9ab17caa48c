"""Remotes at their worst: other engines, faults of networks and network disks, and bad bytes on the wire."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from . import control, without
from .common import BUILD, Count, build_library, environment, log_of, print_figures, pytest, total

FOLDER = "tests/remotes"
CLOCKS = f"{FOLDER}/test_clocks.py"


def tests() -> Count:
    """The tests that take a minute together."""
    return pytest("remotes", sys.executable, FOLDER, "-m", "not slow", env=environment())


def rest() -> Count:
    """The tests that take longer, and the controls."""
    slow = pytest("remotes-rest", sys.executable, FOLDER, "-m", "slow", "--ignore", CLOCKS, env=environment())
    return total([slow, control.of_area("remotes-rest")])


def clocks() -> Count:
    """Machines whose clocks are hours off, in a build with such clocks; and the control, which believes others' clocks."""
    area = "remotes-clocks"
    log_of(area).unlink(missing_ok=True)
    built = BUILD / "clock"
    library = build_library.build(built, clock=True)
    count = pytest(area, sys.executable, "-s", CLOCKS, env=environment(JITCACHE_LIBRARY=str(library)))

    def helper_of_control(folder: Path, name: str) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(built, folder, symlinks=True)
        build_library.build_command(folder, build_library.STORAGE, control=name, clock=True)
        return folder

    return total([count, control.of_area(area, build=helper_of_control)])


def soak() -> Count:
    """Fleets of 200 machines and of 300 processes, and a helper killed at 200 moments; prints their figures.

    The build has no budget, because 200 processes on two processors would spend it while they wait for a processor.
    """
    area = "remotes-soak"
    log_of(area).unlink(missing_ok=True)
    patient = BUILD / "controls" / "no-budget-soak"
    without.library(patient, "nobudget")
    library = {"JITCACHE_LIBRARY": str(patient / "libjitcache.so")}
    count = total(
        [
            pytest(area, sys.executable, "-s", "tests/python/test_fleet.py", env=environment(FLEET="200", **library)),
            pytest(
                area,
                sys.executable,
                "-s",
                f"{FOLDER}/test_fleet_processes.py",
                env=environment(FLEET_PROCESSES="300", **library),
            ),
            pytest(area, sys.executable, "-s", f"{FOLDER}/test_helper_killed.py", env=environment(KILLS="200")),
        ]
    )
    print_figures(area)
    return count
