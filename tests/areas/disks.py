"""Bad disks: full, read-only, moved, on a network, and failing call by call; and their controls."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

from . import without
from .common import BUILD, Count, environment, print_figures, pytest, total
from .control import go_failures, python_red, red

FOLDER = "tests/disks"


def _disks(area: str, length: str) -> Count:
    more = {"JITCACHE_LIBRARY": os.environ["JITCACHE_LIBRARY"]} if "JITCACHE_LIBRARY" in os.environ else {}
    return pytest(area, sys.executable, FOLDER, env=environment(DISKS=length, **more))


def short() -> Count:
    """The variant of at most a minute."""
    return _disks("disks", "short")


def long() -> Count:
    """The long variant, with all rows; prints its figures."""
    count = _disks("disks-long", "long")
    print_figures("disks-long")
    return count


class Control(NamedTuple):
    """A mechanism that is taken out, and the tests that must then be red."""

    out: str  # of core/control/controls.txt
    go: list[str]  # tests of core/store
    python: list[str]  # pytest node ids below tests/disks


CALL = "test_calls.py::test_failing_call_costs_a_compile_at_most"
MOVE = "test_moves.py::test_directory_moves_under_working_processes"

#: Seconds after which a process counts as stuck in a control. The tests themselves wait longer.
STUCK = "10"

CONTROLS = [
    # A put renames a file without checking that it was written.
    Control(
        "nowritecheck",
        [
            "TestEveryFailingCallOfAPutIsSurvived",
            "TestAnOperationThatAlwaysFailsIsSurvived",
            "TestFaultsAtRandomAreSurvived",
        ],
        [
            f"{CALL}[writev:ENOSPC=1+]",
            f"{CALL}[writev:EDQUOT=1+]",
            "test_full.py::test_disk_that_fills_up_stores_what_fits[size=1m]",
            "test_fuse.py::test_no_error_reaches_the_caller[local--large20000]",
        ],
    ),
    # A call that a signal interrupts counts as failed.
    Control(
        "noagain",
        ["TestEveryFailingCallOfAPutIsSurvived", "TestEveryFailingCallOfATaskIsSurvived"],
        [f"{CALL}[renameat,renameat2:EINTR=1+2]"],
    ),
    # A partial read or write counts as complete.
    Control(
        "short",
        [
            "TestEveryFailingCallOfAPutIsSurvived",
            "TestEveryFailingCallOfAGetIsSurvived",
            "TestAnOperationThatAlwaysFailsIsSurvived",
        ],
        ["test_fuse.py::test_no_error_reaches_the_caller[local--short1000]"],
    ),
    # A descriptor stays open after a failed call.
    Control(
        "leak",
        [
            "TestEveryFailingCallOfAPutIsSurvived",
            "TestEveryFailingCallOfAGetIsSurvived",
            "TestEveryFailingCallOfATaskIsSurvived",
            "TestAnOperationThatAlwaysFailsIsSurvived",
            "TestFaultsAtRandomAreSurvived",
        ],
        [f"{CALL}[fstat:EIO=1+]"],
    ),
    # ulimit -f is ignored.
    Control("nolimit", [], ["test_full.py::test_limit_of_file_size_kills_nobody[10000]"]),
    # A directory that cannot be used is an error.
    Control(
        "nodegrade",
        [],
        [
            "test_full.py::test_cache_cannot_be_made_on_a_full_disk[size=1m]",
            "test_full.py::test_directory_of_mode_0500_is_read_by_its_user",
            "test_full.py::test_process_without_descriptors_compiles",
        ],
    ),
    # Opening a directory does not check that puts can work.
    Control(
        "nowritable",
        [],
        [
            "test_full.py::test_disk_that_becomes_read_only_is_read",
            "test_full.py::test_directory_of_mode_0500_is_read_by_its_user",
        ],
    ),
    # Folders that were removed are not made again.
    Control("norepair", [], [f"{MOVE}[removed]", f"{MOVE}[renamed]", f"{MOVE}[replaced_by_a_file]"]),
    # Folders are kept open.
    Control("keepopen", [], [f"{MOVE}[removed]", f"{MOVE}[renamed]"]),
    # Links are followed.
    Control(
        "follow",
        ["TestLinkBelowTheRootIsNotFollowed"],
        [
            f"{MOVE}[replaced_by_a_link]",
            f"{MOVE}[folder_replaced_by_a_link]",
            "test_paths.py::test_no_call_goes_through_a_link_below_the_root[openat2]",
        ],
    ),
    # Stamps of files on mounted images are believed.
    Control(
        "noimages",
        [],
        [
            "test_images.py::test_header_of_another_image_is_another_header[squashfs]",
            "test_images.py::test_header_of_another_image_is_another_header[overlay]",
            "test_images.py::test_result_is_not_stored_for_an_image_that_was_replaced_meanwhile[squashfs]",
        ],
    ),
    # A lock that is refused counts as held.
    Control("norefusal", [], [f"{CALL}[flock:ENOLCK=1+]", f"{CALL}[newfstatat:EIO=1+]"]),
    # No process waits for another.
    Control(
        "nolease",
        [],
        [
            "test_network.py::test_one_compile_per_node_with_locks_on_the_node[JITCACHE_LOCK_DIR]",
            "test_fuse.py::test_without_faults_one_compiles[local]",
        ],
    ),
]


def controls() -> Count:
    return total([_control(control) for control in CONTROLS])


def _control(control: Control) -> Count:
    area = "disks-controls"
    folder = BUILD / "controls" / f"disks-{control.out}"
    without.library(folder, control.out)
    failed = go_failures(area, control.out, "core/store", control.go) if control.go else set()
    counts = [red(area, control.out, name, name in failed) for name in control.go]
    counts += [python_red(area, control.out, f"{FOLDER}/{node}", folder, DISKS_STUCK=STUCK) for node in control.python]
    return total(counts)
