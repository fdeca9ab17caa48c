"""Remotes at their worst: other engines, faults of networks and network disks, and bad bytes on the wire."""

from __future__ import annotations

import shutil
import sys
from typing import NamedTuple

from . import without
from .common import BUILD, Count, build_library, environment, log_of, print_figures, pytest, total
from .control import python_red

FOLDER = "tests/remotes"
CLOCKS = f"{FOLDER}/test_clocks.py"


def tests() -> Count:
    """The tests that take a minute together."""
    return pytest("remotes", sys.executable, FOLDER, "-m", "not slow", env=environment())


def rest() -> Count:
    """The tests that take longer, and the controls."""
    slow = pytest("remotes-rest", sys.executable, FOLDER, "-m", "slow", "--ignore", CLOCKS, env=environment())
    return total([slow, controls()])


class Control(NamedTuple):
    """A mechanism that is taken out, and a row of the table of faults that must then be red."""

    name: str
    out: str  # of core/control/controls.txt
    test: str  # pytest node below FOLDER
    front: bool = False  # out is a name of capi/controls.h


STOPPED = "test_helper_killed.py::test_helper_that_is_stopped_while_its_program_compiles_costs_one_compile_more"

CONTROLS = [
    Control("no outbox", "nooutbox", "test_faults.py::test_replica_that_is_read_only_serves_and_takes_nothing"),
    Control("no outbox", "nooutbox", "test_faults.py::test_password_that_becomes_right_is_used"),
    Control("claims of the dead", "noheirs", STOPPED),
    Control("no outbox", "nooutbox", "test_helper_killed.py::test_helper_that_is_killed_at_any_moment_costs_no_more_than_hits"),
    Control("damaged entry stops the others", "onestops", "test_statuses.py::test_answer_that_is_no_entry_costs_its_lookup[html]"),
    Control("runtime of a child", "no_copy", "test_faults.py::test_fork_while_another_thread_asks", front=True),
    Control("helpers with one socket", "manyserve", "test_faults.py::test_of_helpers_that_start_at_once_one_serves"),
    Control("sockets where their folder is", "longplaces", "test_faults.py::test_paths_that_are_too_long_for_a_socket"),
    Control("copy that must be made", "needscopy", "test_faults.py::test_no_space_for_the_copy"),
    Control(
        "pulse that may not stand still", "hastybeats",
        "test_directory.py::test_machine_that_lives_is_not_taken_for_dead_where_its_pulse_is_seen_late",
    ),
]  # fmt: skip


def controls() -> Count:
    """Rows of the table of faults must fail without their mechanisms."""
    area, counts = "remotes-rest", []
    for c in CONTROLS:
        folder = BUILD / "controls" / f"remotes-{c.out}"
        shutil.rmtree(folder, ignore_errors=True)
        if c.front:
            shutil.copytree(BUILD / "lib", folder, symlinks=True)
            without.front(folder, c.out)
        else:
            without.library(folder, c.out)
        counts.append(python_red(area, c.name, f"{FOLDER}/{c.test}", folder))
    return total(counts)


def clocks() -> Count:
    """Machines whose clocks are hours off, in a build with such clocks; and the control, which believes others' clocks."""
    area = "remotes-clocks"
    log_of(area).unlink(missing_ok=True)
    built, believes = BUILD / "clock", BUILD / "controls" / "clocks-of-others"
    library = build_library.build(built, clock=True)
    count = pytest(area, sys.executable, "-s", CLOCKS, env=environment(JITCACHE_LIBRARY=str(library)))
    shutil.rmtree(believes, ignore_errors=True)
    shutil.copytree(built, believes, symlinks=True)
    build_library.build_command(believes, build_library.STORAGE, control="otherclock", clock=True)
    node = f"{CLOCKS}::test_fleet_whose_clocks_differ_compiles_each_key_once[redis]"
    return total([count, python_red(area, "clocks of others", node, believes)])


def soak() -> Count:
    """A fleet of 200 machines, and a helper killed at 200 moments; prints their figures.

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
            pytest(area, sys.executable, "-s", f"{FOLDER}/test_helper_killed.py", env=environment(KILLS="200")),
        ]
    )
    print_figures(area)
    return count
