"""Opens are told by the kernel, and an area whose declaration does not cover one is told of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

import run as runner
from areas import AREAS, package, python
from areas.area import Area, When

from reach import choice, opened

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@as_root
def test_opens_of_other_processes_are_noted(tmp_path: Path) -> None:
    for name in ("read", "not read", "deep"):
        (tmp_path / name).write_text("") if name != "deep" else (tmp_path / name).mkdir()
    (tmp_path / "deep" / "file").write_text("")
    with opened.Opened(tmp_path) as seen:
        subprocess.run(["sh", "-c", "cat read deep/file; test -e 'not read'"], cwd=tmp_path, check=True)
        (tmp_path / "not read").read_text()  # by this process
    assert seen.paths - {"", "deep"} == {"read", "deep/file"}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("tests/numba/__pycache__/project.cpython-311.pyc", "tests/numba/project.py"),
        ("tests/numba/__pycache__/test_right.cpython-311-pytest-9.1.1.pyc", "tests/numba/test_right.py"),
        ("__pycache__/build_library.cpython-311.pyc.140", "build_library.py"),
        ("docs/numba.md", "docs/numba.md"),
    ],
)
def test_compiled_module_stands_for_its_source(path: str, source: str) -> None:
    assert opened.source_of(path) == source


def test_sources_of_programs_are_seen_by_what_was_built_of_them() -> None:
    tracked = frozenset({"core/store/read.go", "docs/numba.md", "capi/key.c"})
    paths = [
        "core/store/read.go",
        "capi/key.c",
        "docs/numba.md",
        "build/lib/jitcache",
        "build/x",
        "build/controls/a/libjitcache.so",
    ]
    assert opened.reads(paths, tracked) == {
        "docs/numba.md": "", "build/lib/jitcache": "cli/jitcache", "build/controls/a/libjitcache.so": "capi",
    }  # fmt: skip


REACH = choice.Reach.of_checkout()


def uncovered(area: Area, *paths: str) -> list[str]:
    return runner.not_covered(area, REACH, opened.reads(paths, frozenset(REACH.paths)))


def test_declaration_covers_what_it_names_and_nothing_else() -> None:
    numba = AREAS["numba"]
    assert (
        uncovered(numba, "python/jitcache/adapters/numba/_walk.py", "docs/numba.md", "build/lib/libjitcache.so") == []
    )
    assert uncovered(numba, "docs/jax.md") == ["docs/jax.md is in docs/jax.md"]
    assert uncovered(numba, "build/lib/jitcache") == ["build/lib/jitcache is in cli/jitcache"]
    assert uncovered(Area("made up", python.tests, When.ALL, ("python/walk",)), "python/jitcache/_key.py") == [
        "python/jitcache/_key.py is in python/key"
    ]


def test_what_every_area_stands_on_need_not_be_declared() -> None:
    assert (
        uncovered(AREAS["header"], "tests/areas/c.py", "build_library.py", "tests/conftest.py", "tests/reach/rows.py")
        == []
    )


def test_part_that_reads_all_files_covers_none() -> None:
    area = Area("made up", package.tests, When.ALL, (), parts={"tests/package/test_samples.py": choice.EVERY_FILE})
    assert uncovered(area, "docs/jax.md") == ["docs/jax.md is in docs/jax.md"]
