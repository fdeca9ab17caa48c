"""Bad disks: full, read-only, moved, failing call by call, and a network's; and their controls."""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

from .common import BUILD, Count, build_library, environment, log_of, pytest, total
from .control import go_failures, python_red, red

FOLDER = "tests/disks"


def _disks(area: str, length: str) -> Count:
    more = {"JITCACHE_LIBRARY": os.environ["JITCACHE_LIBRARY"]} if "JITCACHE_LIBRARY" in os.environ else {}
    return pytest(area, sys.executable, FOLDER, env=environment(DISKS=length, **more))


def short() -> Count:
    """The variant of at most a minute."""
    return _disks("disks", "short")


def long() -> Count:
    """All of it, and longer; prints its figures."""
    count = _disks("disks-long", "long")
    for line in re.findall(r"^figure .*$", log_of("disks-long").read_text(errors="replace"), re.MULTILINE):
        print(line)
    return count


class Control(NamedTuple):
    """A mechanism that is taken out, and the tests that must then be red."""

    tags: str
    go: list[str]  # tests of core/store
    python: list[str]  # pytest node ids below tests/disks


CALL = "test_calls.py::test_failing_call_costs_a_compile_at_most"

CONTROLS = [
    # A put renames what it has not looked at.
    Control(
        "control_nowritecheck",
        [
            "TestEveryFailingCallOfAPutIsSurvived",
            "TestAnOperationThatAlwaysFailsIsSurvived",
            "TestFaultsAtRandomAreSurvived",
        ],
        [
            f"{CALL}[writev:ENOSPC=1+]",
            "test_full.py::test_disk_that_fills_up_stores_what_fits[size=1m]",
            "test_fuse.py::test_no_error_reaches_the_caller[local--large20000]",
        ],
    ),
    # A call that a signal has interrupted has failed.
    Control(
        "control_noagain",
        ["TestEveryFailingCallOfAPutIsSurvived", "TestEveryFailingCallOfATaskIsSurvived"],
        [f"{CALL}[renameat:EINTR=1+2]"],
    ),
    # ulimit -f is not looked at.
    Control("control_nolimit", [], ["test_full.py::test_limit_of_file_size_kills_nobody[10000]"]),
    # Nobody waits for anybody.
    Control(
        "control_nolease",
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
    folder = BUILD / "controls" / control.tags.replace("_", "-")
    build_library.build(folder, tags=control.tags)
    failed = go_failures(area, control.tags, "core/store", control.go) if control.go else set()
    counts = [red(area, control.tags, name, name in failed) for name in control.go]
    counts += [python_red(area, control.tags, f"{FOLDER}/{node}", folder) for node in control.python]
    return total(counts)
