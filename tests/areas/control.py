"""Controls: one mechanism is taken out, and the tests of its promise must fail.

A test that passes without the mechanism proves nothing. Each row names what is
taken out and tests that must then be red; that they are green with it, the other
areas show.
"""

from __future__ import annotations

import json
import re
import sys
from typing import NamedTuple

from . import c
from .common import BUILD, Count, build_library, environment, go_command, run, total


class Control(NamedTuple):
    """A mechanism that is taken out, and which tests must notice."""

    name: str
    tags: str
    go: dict[str, list[str]]  # package -> tests
    python: list[str] = []  # pytest node ids below tests/python
    c: list[str] = []  # "source: test"
    preempt: bool = False


CONTROLS = [
    Control(
        "no checksum", "control_nochecksum",
        {"core/store": ["TestEveryFlippedBitIsFound", "TestGetIntoReadsWhatGetReads"]},
        ["test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-payload-first-elf]",
         "test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-attributes-large]"],
    ),
    Control(
        "footer not checked", "control_nofooter",
        {"core/store": ["TestEveryFlippedBitIsFound"]},
        ["test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-created-elf]",
         "test_malformed.py::test_malformed_file_is_a_miss_with_its_reason[flipped-cost-bare]"],
    ),
    Control(
        "no lease", "control_nolease",
        {"core/lease": ["TestOneOfManyThreadsCompiles", "TestOneOfManyProcessesCompiles"], "core": ["TestOneOfManyCachesCompiles"]},
        ["test_lease.py::test_one_of_many_threads_compiles", "test_lease.py::test_one_of_many_processes_compiles"],
        ["api.c: one_of_many_threads_compiles"],
    ),
    Control(
        "inputs not looked at again", "control_noinputs",
        {"core/key": ["TestInputThatChangesIsNoticed", "TestEditWithinATickIsNoticed"],
         "core": ["TestChangedInputIsHandedBackAndNotKept"], "core/store": ["TestResultOfAChangedInputIsNotStored"]},
        ["test_key.py::test_result_of_a_file_that_changed_is_handed_back_and_not_stored"],
        ["api.c: file_that_changes_is_noticed"],
    ),
    Control("cells not clamped", "control_noclamp", {"core/store": ["TestCellsBelowZeroDoNotStopEviction", "TestCellsNeverGoBelowZero"]}),
    Control("preemption on", "", {}, [], ["signals.c: no_preemption_signal_is_sent"], preempt=True),
]  # fmt: skip


def tests() -> Count:
    return total([_control(control) for control in CONTROLS])


def _control(control: Control) -> Count:
    counts = [_go(control, package, names) for package, names in control.go.items()]
    if control.python or control.c:
        folder = BUILD / "controls" / control.name.replace(" ", "-")
        build_library.build(folder, tags=control.tags, preempt=control.preempt)
        counts += [_python(control, node, folder) for node in control.python]
        counts += [_c(control, row, folder) for row in control.c]
    return total(counts)


def _red(control: Control, test: str, red: bool) -> Count:
    if not red:
        run("controls", ["echo", f"{control.name}: {test} is green"])
    return Count(1, 0, int(not red))


def _go(control: Control, package: str, names: list[str]) -> Count:
    pattern = "^(" + "|".join(names) + ")$"
    command = [go_command(), "test", "-json", "-count=1", "-tags", control.tags, f"./{package}", "-run", pattern]
    _, text = run("controls", command)
    failed = set()
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event["Action"] == "fail" and "Test" in event:
            failed.add(event["Test"])
    return total([_red(control, f"{package} {name}", name in failed) for name in names])


def _python(control: Control, node: str, folder: object) -> Count:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/python/{node}"]
    status, text = run("controls", command, env=environment(JITCACHE_LIBRARY=f"{folder}/libjitcache.so"))
    return _red(control, node, status == 1 and "1 failed" in text)


def _c(control: Control, row: str, folder: object) -> Count:
    from pathlib import Path

    source, test = row.split(": ")
    program = c.build("controls", source, "gnu99", library=Path(str(folder)), out=Path(str(folder)))
    if program is None:
        return Count(0, 0, 1)
    argument = f"{folder}/libjitcache.so" if source == "signals.c" else ""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        _, text = run("controls", [str(program), place, argument])
    return _red(control, row, re.search(rf"^FAILED {test}$", text, re.MULTILINE) is not None)
