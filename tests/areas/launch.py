"""The launcher: what it replays and what it does not, and programs of PyPI that compile at run time."""

from __future__ import annotations

import sys
from typing import NamedTuple

from . import without
from .common import BUILD, Count, build_library, environment, print_figures, pytest, skipped, total, venv
from .control import python_red
from .python import interpreters

FOLDER = "tests/launch"

#: Packages that compile at run time with a command that the user can set. Brian2 needs Python 3.13.
CALLERS = [
    "cffi",
    "setuptools",
    "sympy",
    "Cython",
    "pytensor",
    "devito",
    "brian2",
    "fenics-ffcx",
    "pythran",
    "cmake",
    "ninja",
    "nvidia-cuda-nvcc==13.5.37",
    "nvidia-cuda-crt==13.5.37",
    "nvidia-nvvm==13.5.37",
    "nvidia-cuda-runtime==13.5.37",
    "nvidia-cuda-cccl==13.3.5.0.6",
]

#: The tests that need these packages.
_OF_CALLERS = [f"{FOLDER}/test_callers.py", f"{FOLDER}/test_nvcc.py"]


def tests() -> Count:
    others = [f"--ignore={path}" for path in _OF_CALLERS]
    return pytest("launch", sys.executable, FOLDER, *others, "-m", "not rest", env=environment())


def rest() -> Count:
    """The whole tables, and tests that need more than gcc."""
    return pytest("launch-rest", sys.executable, FOLDER, "-m", "rest", env=environment())


def callers() -> Count:
    """Run each package twice, with its own caches empty."""
    python = interpreters().get("3.13", sys.executable if sys.version_info[:2] == (3, 13) else None)
    if python is None:
        return skipped("callers", "callers")
    own = venv("callers", "callers", CALLERS, python)
    if own is None:
        return Count(0, 0, 1)
    env = environment(JITCACHE_TEST_CALLERS=own)
    return pytest("callers", sys.executable, *_OF_CALLERS, env=env)


class _Control(NamedTuple):
    name: str
    out: str  # of core/control/controls.txt
    tests: list[str]


_ROW = "test_table.py::test_change_of_what_a_command_reads_is_noticed"
_COMPILE = "test_table.py::test_change_of_a_compile_and_link_is_noticed"
_WALK = "test_walk.py::test_walk_leaves_no_wrong_replay"

_CONTROLS = [
    _Control(
        "launched absent names", "noabsent",
        [
            f"{_ROW}[folder of an assembler that comes first]",
            f"{_ROW}[link that leads nowhere appears]",
            f"{_ROW}[link that leads nowhere is left]",
            f"{_COMPILE}[library that appears earlier-gcc]",
            _WALK,
        ],
    ),
    _Control("launched children", "nochildren", [f"{_ROW}[version that a script greps]"]),
    _Control("launched listings", "nolistings", [f"{_ROW}[files that a script finds by a pattern]"]),
    _Control("launched environment", "noenvironment", [f"{_COMPILE}[variable of a wrapper-gcc]"]),
    _Control("what Python has made counts for nobody", "nocompiled", [f"{_ROW}[file that python made and others read]"]),
    _Control("made and removed unseen", "noscratch", [f"{_ROW}[file that is made for a moment]"]),
    _Control("added to unseen", "noadded", ["test_replay.py::test_notes_that_a_compiler_adds_to"]),
    _Control("compiled by Python unseen", "nocompilers", [f"{_ROW}[source that python compiles]"]),
    _Control("removed by others", "noremovals", ["test_processes.py::test_output_that_somebody_else_removes_is_not_left_out"]),
    _Control("launched permissions", "nomodes", [f"{_ROW}[permissions of a folder that is copied]"]),
    _Control(
        "launched permits", "nopermits",
        [
            "test_permissions.py::test_change_of_permissions_is_noticed[folder that may be entered]",
            "test_permissions.py::test_change_of_permissions_is_noticed[file that may be made and removed]",
            f"{_ROW}[attribute that a file gets]",
        ],
    ),
    _Control("permissions that folders give", "nogiven", ["test_permissions.py::test_permissions_that_a_folder_gives_to_what_is_made_in_it"]),
    _Control("limits as Go has them", "raised", ["test_given.py::test_limits_are_those_of_the_caller"]),
    _Control("launched times", "nodates", [f"{_COMPILE}[time that a wrapper compares-gcc]"]),
    _Control("times of outputs unseen", "anytimes", ["test_plain.py::test_run_each_time_and_said_why[a file with a time of its own]"]),
    _Control("times in outputs unseen", "nodaters", [f"{_ROW}[time in a precompiled header of clang]"]),
    _Control("reader not waited for", "nowaiting", ["test_output.py::test_pipe_that_does_not_block_gets_all_of_it_once[replay]"]),
    _Control("printed twice", "noending", ["test_output.py::test_replay_that_cannot_print_to_the_end_says_so"]),
    _Control("observed under a limit", "noroom", ["test_output.py::test_limit_for_files_is_none_for_a_pipe"]),
    _Control("no lease", "nolease", ["test_processes.py::test_sixteen_at_once_run_it_once"]),
    _Control("lookup ends at the own directory", "nolayers", ["test_layered_launch.py::test_warmed_image_runs_nothing"]),
    _Control("removed before it is replaced", "noexchange", ["test_processes.py::test_output_is_there_at_any_time_while_replays_replace_it"]),
    _Control(
        "launched remotes not asked", "nolayers",
        ["../python/test_remote_run.py::test_second_machine_replays_what_the_first_has_run[file]"],
    ),
    _Control("every machine runs it", "noclaims", ["../python/test_fleet_run.py::test_fleet_runs_a_command_once[file]"]),
    _Control("overwritten unseen", "nolooks", ["test_replay.py::test_output_that_has_another_name"]),
    _Control(
        "terminal not told", "notells",
        ["test_terminal.py::test_command_is_told_what_is_a_terminal[o2]", "test_terminal.py::test_colours_of_a_compiler"],
    ),
    _Control("refusals not remembered", "noremembered", ["test_refusals.py::test_command_that_cannot_be_kept_is_observed_once[changed in place]"]),
    _Control("refusals not forgotten", "noforgotten", ["test_refusals.py::test_another_script_is_observed_at_once"]),
    _Control(
        "names of another run in texts", "nomarks",
        ["test_invented.py::test_text_outputs_get_the_names_of_this_run", "test_invented.py::test_printed_names_are_those_of_this_run"],
    ),
]  # fmt: skip


def soak() -> Count:
    """The random walk, for ten minutes."""
    env = environment(LAUNCH_WALK_SECONDS="600", LAUNCH_WALK_STEPS="200")
    count = pytest("launch-soak", sys.executable, "-s", f"{FOLDER}/test_walk.py", env=env)
    print_figures("launch-soak")
    return count


def controls() -> Count:
    """Each mechanism is taken out, and the tests of its promise must fail."""
    counts = []
    for control in _CONTROLS:
        folder = BUILD / "controls" / control.name.replace(" ", "-")
        without.library(folder, control.out)
        program = str(folder / build_library.COMMAND)
        counts += [
            python_red("launch-controls", control.name, f"{FOLDER}/{node}", folder, JITCACHE_TEST_LAUNCHER=program)
            for node in control.tests
        ]
    return total(counts)
