"""ARCHITECTURE.md's second table says which files are in which room, and what each room needs."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

from reach import rooms

TEXT = (ROOT / "ARCHITECTURE.md").read_text()
ROOMS = rooms.read(TEXT)
FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
PYTHON = [f for f in FILES if f.startswith("python/") and f.endswith(".py") and (ROOT / f).exists()]

#: Arrows of Python that are no imports of Python: the library that it loads, the programs that it becomes.
BEYOND = {"capi", "capi/jobs", "cli/jitcache", "cli/bundles"}


@functools.cache
def modules() -> dict[str, str]:
    """Return the files of Python's modules, by the names that they are imported under."""
    names = {f[len("python/") :].removesuffix(".py").removesuffix("/__init__").replace("/", "."): f for f in PYTHON}
    assert names["jitcache"] == "python/jitcache/__init__.py"
    return names


@functools.cache
def imported(file: str) -> frozenset[str]:
    """Return the files of the package that a file imports."""
    known = modules()
    found: set[str] = set()
    package = file[len("python/") :].rpartition("/")[0].replace("/", ".")
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            whole = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{whole}.{a.name}" if f"{whole}.{a.name}" in known else whole for a in node.names]
        found.update(known[name] for name in names if name in known)
    return frozenset(found)


def wrong_arrows(read: rooms.Rooms) -> list[str]:
    """Return where the table of Python's rooms is not what its files import."""
    found: dict[str, set[str]] = {}
    for file in PYTHON:
        room = read.room_of(file)
        if room is None:
            return [f"{file} is in no room"]
        found.setdefault(room, set()).update(read.room_of(f) or "" for f in imported(file))
    wrong = []
    for room, below in found.items():
        # A package under a folder's name is imported with it.
        want, have = below - {room}, read.needs[room] - BEYOND
        wrong += [f"{room} imports {other}, which its row lacks" for other in sorted(want - have)]
        wrong += [f"{room} imports nothing of {other}" for other in sorted(have - want)]
    return wrong


def test_python_imports_what_the_table_says() -> None:
    assert wrong_arrows(ROOMS) == []


@pytest.mark.parametrize(
    ("room", "below"), [(r, b) for r, needs in ROOMS.needs.items() if r.startswith("python/") for b in needs - BEYOND]
)
def test_python_s_arrow_that_is_dropped_is_noticed(room: str, below: str) -> None:
    dropped = ROOMS._replace(needs={**ROOMS.needs, room: ROOMS.needs[room] - {below}})
    assert wrong_arrows(dropped) == [f"{room} imports {below}, which its row lacks"]


def test_files_of_the_table_are_there() -> None:
    for room, files in ROOMS.files.items():
        for file in files:
            assert (ROOT / file).exists(), f"{room}: {file}"


def test_no_file_is_in_two_rooms() -> None:
    for file in FILES:
        own = [
            room
            for room, files in ROOMS.files.items()
            if any(f == file or (f[-1] == "/" and file.startswith(f)) for f in files)
        ]
        assert len(own) <= 1, f"{file}: {own}"


def test_rooms_need_each_other_in_no_circle() -> None:
    for room in ROOMS.needs:
        for below in ROOMS.needs[room]:
            assert room not in ROOMS.below([below]), f"{room} -> {below} -> {room}"


def test_part_of_a_room_has_the_arrows_of_its_files() -> None:
    """capi/jobs alone imports what its row takes from capi."""
    rows = dict(rooms.table(TEXT, "| room | may use |"))
    taken = set(rows["capi"].split(", ")) - ROOMS.needs["capi"]
    assert {"native", "cuda", "command", "observe"} == taken
    for file in FILES:
        if re.fullmatch(r"capi/\w+\.go", file) and "_test" not in file and ROOMS.room_of(file) == "capi":
            imports = set(re.findall(r'^\s+"jitcache/([\w/]+)"$', (ROOT / file).read_text(), re.MULTILINE))
            assert not imports & taken, f"{file} imports {imports & taken}"


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("core/store/read.go", "core/store"),
        ("core/store/read_test.go", "core/store tests"),
        ("core/store/testdata/fuzz/FuzzVerify/1", "core/store tests"),
        ("core/store/new/deeper/file.go", "core/store"),
        ("observe/tracer/main.c", "observe/tracer"),
        ("capi/cuda.c", "capi/jobs"),
        ("capi/overlay/readback.py", "capi"),
        ("python/jitcache/adapters/numba/_walk.py", "python/adapters/numba"),
        ("tests/numba/test_right.py", "tests/numba/test_right.py"),
        ("tests/numba/project.py", "tests/numba"),
        ("tests/areas/native.py", "tests/areas/native.py"),
        ("docs/numba.md", "docs/numba.md"),
        ("docs/site/build.py", "docs/site"),
        ("examples/numba/demo.py", "examples/numba"),
        ("README.md", "README.md"),
        ("Makefile", None),
        ("go.mod", None),
        ("new/file.go", None),
        ("python/jitcache/_new.py", None),
    ],
)
def test_room_of_a_file(path: str, room: str | None) -> None:
    assert ROOMS.room_of(path) == room


def test_tables_that_name_a_room_without_a_row_are_refused() -> None:
    with pytest.raises(ValueError, match="no row for nowhere"):
        rooms.read(TEXT.replace("| cmake | | include |", "| cmake | | nowhere |"))
    with pytest.raises(ValueError, match="has no table"):
        rooms.read("# nothing\n")
