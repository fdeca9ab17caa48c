"""C, C++ and Cython: with gcc everywhere; with clang, zig and Cython where they are."""

from __future__ import annotations

import sys
from typing import NamedTuple

from .common import BUILD, Count, build_library, environment, pytest, run, total
from .control import go_failures, python_red, red

FOLDER = "tests/native"

#: What the tests use where the machine has it not: PyPI's.
NEEDS = ["Cython>=3", "setuptools", "ziglang>=0.15"]


def tests() -> Count:
    """What needs nothing but gcc."""
    return pytest("native", sys.executable, FOLDER, "-m", "not rest", env=environment())


def rest() -> Count:
    """With clang, zig and Cython."""
    run("native-rest", [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *NEEDS])
    return pytest("native-rest", sys.executable, FOLDER, "-m", "rest", env=environment())


class _Control(NamedTuple):
    name: str
    out: str  # of core/control/controls.txt
    go: dict[str, list[str]]
    python: list[str]


_TABLE = "test_table.py::test_hit_if_and_only_if_a_fresh_compile_is_the_same"

_CONTROLS = [
    _Control(
        "headers not looked at", "noheaders",
        {"native": ["TestHeaderThatChangesIsNoticed"]},
        [f"{_TABLE}[quote-edit-gcc]", f"{_TABLE}[-isystem-retarget-gcc]"],
    ),
    _Control(
        "absent names not kept", "noabsent",
        {"native": ["TestHeaderThatAppearsInFrontIsNoticed"]},
        [f"{_TABLE}[quote-add in front-gcc]", f"{_TABLE}[has absent-add in front-gcc]", f"{_TABLE}[computed-add in front-gcc]"],
    ),
    _Control(
        "precompiled headers not looked at", "noprecompiled", {},
        [f"{_TABLE}[quote-precompile-gcc]", f"{_TABLE}[-isystem-precompile in front-g++]", f"{_TABLE}[comment-precompile-gcc]"],
    ),
    _Control(
        "libraries of the compiler not looked at", "nolibraries", {},
        ["test_flags.py::test_library_of_the_compiler_that_is_replaced", "test_flags.py::test_library_that_comes_first_for_the_loader"],
    ),
    _Control("native not resolved", "nonative", {"native": ["TestNativeIsWhatTheProcessorIs"]}, []),
    _Control("inputs not looked at again", "noinputs", {}, ["test_table.py::test_header_that_changes_while_it_is_compiled_is_not_kept"]),
    _Control("no lease", "nolease", {}, ["test_build.py::test_processes_compile_once"]),
]  # fmt: skip


def controls() -> Count:
    """One mechanism is taken out, and the tests of its promise must fail."""
    counts = []
    for control in _CONTROLS:
        for package, names in control.go.items():
            failed = go_failures("native-controls", control.out, package, names)
            counts += [red("native-controls", control.name, f"{package} {name}", name in failed) for name in names]
        if control.python:
            folder = BUILD / "controls" / control.name.replace(" ", "-")
            build_library.build(folder, control=control.out)
            counts += [
                python_red("native-controls", control.name, f"{FOLDER}/{node}", folder) for node in control.python
            ]
    return total(counts)
