"""Rows that CI runs, and rows that it leaves to make test-all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sampled import EVERY

HERE = Path(__file__).resolve().parent

TABLES = """
import pytest
@pytest.mark.parametrize("row", range(20))
def test_large(row): pass
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("row", range(20))
def test_for_two(row, compiler): pass
@pytest.mark.parametrize("without", ["", "its mechanism"])
def test_and_its_control(without): pass
@pytest.mark.parametrize("row", [pytest.param(n, marks=[pytest.mark.more] * (n > 1)) for n in range(20)])
def test_that_marks_its_own(row): pass
def test_single(): pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of tests whose conftest.py is like those of the adapters."""
    (tmp_path / "conftest.py").write_text("from sampled import pytest_collection_modifyitems\n")
    (tmp_path / "test_tables.py").write_text(TABLES)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = more\n")
    return tmp_path


def chosen(folder: Path, every: int, marks: str) -> set[str]:
    """Return what pytest runs of the folder."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", marks]
    env = {**os.environ, "PYTHONPATH": str(HERE), EVERY: str(every)}
    p = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    return {line.partition("::")[2] for line in p.stdout.splitlines() if "::" in line}


def of(names: set[str], test: str) -> set[str]:
    return {n for n in names if n.partition("[")[0] == test}


def test_each_row_is_in_one_of_two_areas(folder: Path) -> None:
    part, rest = chosen(folder, 3, "not more"), chosen(folder, 3, "more")
    assert not part & rest
    assert part | rest == chosen(folder, 1, "more or not more")
    assert len(of(part, "test_large")) == 7
    assert len(of(part, "test_for_two")) == 14


def test_no_table_is_left_out_and_no_control(folder: Path) -> None:
    part = chosen(folder, 100, "not more")
    assert {n.partition("[")[0] for n in part} == {n.partition("[")[0] for n in chosen(folder, 1, "not more")}
    assert len(of(part, "test_large")) == 1
    assert len(of(part, "test_and_its_control")) == 2
    assert len(of(part, "test_that_marks_its_own")) == 2


def test_rows_of_both_compilers_are_chosen(folder: Path) -> None:
    """With every second of the rows in their order, one compiler would have none."""
    part = of(chosen(folder, 2, "not more"), "test_for_two")
    assert any("gcc" in n for n in part)
    assert any("clang" in n for n in part)


def test_rows_are_from_all_over_a_table(folder: Path) -> None:
    """Rows beside each other are often alike: neither the first are chosen, nor every third."""
    part = of(chosen(folder, 3, "not more"), "test_large")
    assert part not in ({f"test_large[{n}]" for n in range(7)}, {f"test_large[{n}]" for n in range(0, 20, 3)})


def test_without_the_variable_all_rows_are_run(folder: Path) -> None:
    assert len(chosen(folder, 1, "not more")) == 20 + 40 + 2 + 2 + 1
