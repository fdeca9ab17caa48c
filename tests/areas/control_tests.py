"""Which tests must fail under which control: what the tests say beside themselves.

A test that passes without the mechanism that it tests proves nothing. So a test names the controls that must turn it
red, and where it has subtests or rows, which of these:

    //jitcache:control noclamp
    func TestCellsNeverGoBelowZero(t *testing.T) {

    //jitcache:control anymember twice symbolic_link
    func TestMemberThatNoBundleHasEndsItWithALineThatNamesIt(t *testing.T) {

    @pytest.mark.control("noclaims", rows=["file"])
    def test_fleet_compiles_each_key_once(...)

    /* jitcache:control JC_NO_SIGNALS */
    static void threads_take_no_signals(void)

This module reads that from the sources, without running them. control.py runs the tests.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .common import ROOT


class ControlTest(NamedTuple):
    """A test that must fail under a control."""

    control: str
    place: str  # the folder of a Go package, or a file of tests in Python or C, below the checkout
    test: str  # its name, of a subtest TestName/subtest, of a row test_name[row]


#: What the controls of the tracer begin with, which have an area of their own.
TRACER = "JO_CONTROL_"

#: Which area runs the tests of a place: that of the first beginning that fits.
AREAS = {
    "core/stamp": "native-controls",
    "record": "native-controls",
    "tests/c/api.c": "controls",
    "tests/c/": "guest-controls",
    "tests/cuda/": "cuda-controls",
    "tests/cutile/": "cutile",
    "tests/disks/": "disks-controls",
    "tests/guest/": "guest-controls",
    "tests/launch/test_nvcc.py": "callers",
    "tests/launch/": "launch-controls",
    "tests/native/": "native-controls",
    "tests/remotes/test_clocks.py": "remotes-clocks",
    "tests/remotes/": "remotes-rest",
    "tests/underworld3/": "underworld3",
    "": "controls",
}


def of_area(area: str) -> list[ControlTest]:
    """Return the tests that an area runs."""
    return [test for test in in_tree(ROOT) if area == _area_of(test)]


def _area_of(test: ControlTest) -> str:
    if test.control.startswith(TRACER):
        return "observe-controls"
    return next(area for place, area in AREAS.items() if test.place.startswith(place))


@functools.cache
def in_tree(root: Path) -> tuple[ControlTest, ...]:
    """Return the tests below a folder that name controls. ValueError: a control is named where no test is."""
    found: list[ControlTest] = []
    for path in _sources(root):
        place, text = str(path.relative_to(root)), path.read_text()
        if path.suffix == ".py":
            named = in_python(place, text)
        elif path.suffix == ".go":
            named = in_go(place, text)
            place = str(path.parent.relative_to(root))
        else:
            named = in_c(place, text)
        found += (ControlTest(control, place, test) for control, test in named)
    return tuple(found)


def _sources(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f[0] not in "._" and f != "build")
        for name in sorted(files):
            if name.endswith(("_test.go", ".c", ".cpp")) or re.fullmatch(r"test_\w+\.py", name):
                yield Path(folder, name)


def in_python(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the controls and tests of a file for pytest."""
    if "mark.control" not in text:
        return
    tree = ast.parse(text, name)
    marks = 0
    for test in tree.body:
        if not isinstance(test, ast.FunctionDef):
            continue
        for mark in test.decorator_list:
            if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.control":
                continue
            marks += 1
            (control,) = (ast.literal_eval(a) for a in mark.args)
            rows = {k.arg: ast.literal_eval(k.value) for k in mark.keywords}.pop("rows", None)
            yield from ((control, test.name if row is None else f"{test.name}[{row}]") for row in rows or [None])
    named = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "control")
    if marks != sum(re.search(r"\bmark$", ast.unparse(n.value)) is not None for n in named):
        raise ValueError(f"{name}: a control is marked somewhere else than at a function")


def in_go(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the controls and tests of a Go file."""
    yield from _in_comments(
        name, text, r"^[ \t]*//\s*jitcache:control\b", r"^//jitcache:control (.*)\n", r"func (Test\w+)\("
    )


def in_c(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the controls and tests of a program in C or C++."""
    line = r"^/\* jitcache:control (.*) \*/\n"
    yield from _in_comments(name, text, r"jitcache:control\b", line, r"static void (\w+)\(")


def _in_comments(name: str, text: str, mentioned: str, line: str, function: str) -> Iterator[tuple[str, str]]:
    """Yield controls and tests; ``line`` is the pattern of a line with a control, and such lines stand before a function."""
    plain = line.replace("(", "(?:")
    lines = 0
    for block in re.finditer(rf"((?:{plain})+){function}", text, re.MULTILINE):
        for words in re.findall(line, block[1], re.MULTILINE):
            lines += 1
            control, *parts = words.split()
            yield from ((control, f"{block[2]}/{part}" if part else block[2]) for part in parts or [""])
    if lines != len(re.findall(mentioned, text, re.MULTILINE)):
        raise ValueError(f"{name}: a control is named somewhere else than directly above a test")
