"""Rows that a push runs, rows that it leaves to make test-all, shards, and the tenth."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

from reach import rows
from reach.rows import Wanted

LARGE = [f"tests/f/test_a.py::test_large[{n}]" for n in range(20)]
FOR_TWO = [f"tests/f/test_a.py::test_for_two[{n}-{c}]" for n in range(20) for c in ("gcc", "clang")]
CONTROL = ["tests/f/test_b.py::test_and_its_control[]", "tests/f/test_b.py::test_and_its_control[its mechanism]"]
SINGLE = ["tests/f/test_b.py::test_single"]
NAMES = LARGE + FOR_TWO + CONTROL + SINGLE


def chosen(names: list[str] = NAMES, **wanted: object) -> set[str]:
    return {name for name, runs in zip(names, rows.choose(names, Wanted(**wanted))) if runs}


def test_everything_runs_if_nothing_is_said() -> None:
    assert chosen() == set(NAMES)
    assert rows.wanted() == Wanted()


@pytest.mark.parametrize("later", [{"tests/f/*": 3}, {"*test_large*": 0}, {"*": 2, "*-clang]": 0}, {"nothing": 0}])
def test_each_row_is_run_by_a_push_or_left_to_the_rest(later: dict[str, int]) -> None:
    push, rest = chosen(later=later, which="push"), chosen(later=later, which="rest")
    assert not push & rest
    assert push | rest == set(NAMES)


def test_one_of_so_many_rows_is_run_and_small_tables_are_whole() -> None:
    push = chosen(later={"tests/f/*": 3}, which="push")
    assert len(push & set(LARGE)) == 7
    assert len(push & set(FOR_TWO)) == 14
    assert push >= set(CONTROL + SINGLE)
    assert len(chosen(later={"*": 100}, which="push") & set(LARGE)) == 1


def test_rows_of_both_compilers_are_chosen() -> None:
    """With every second of the rows in their order, one compiler would have none."""
    push = chosen(later={"*": 2}, which="push") & set(FOR_TWO)
    assert any("gcc" in n for n in push)
    assert any("clang" in n for n in push)


def test_rows_are_from_all_over_a_table() -> None:
    """Rows beside each other are often alike: neither the first are chosen, nor every third."""
    push = chosen(later={"*": 3}, which="push") & set(LARGE)
    assert push not in (set(LARGE[:7]), set(LARGE[::3]))


def test_last_pattern_that_fits_counts() -> None:
    assert chosen(later={"*": 0, "tests/f/test_b.py::*": 1}, which="push") == set(CONTROL + SINGLE)


def test_only_the_star_stands_for_other_text() -> None:
    assert rows.fits("a::b[x]", "a::b[x]")
    assert not rows.fits("a::b[x]", "a::bx")
    assert not rows.fits("a.b", "axb")
    assert rows.fits("*-clang]", "a::b[1-clang]")


@pytest.mark.parametrize("of", [2, 3])
def test_shards_have_each_table_once_and_whole(of: int) -> None:
    names = [f"t.py::test_{n}[{m}]" for n in range(30) for m in range(3)]
    shards = [chosen(names, shard=(n, of)) for n in range(1, of + 1)]
    assert set().union(*shards) == set(names)
    assert sum(map(len, shards)) == len(names)
    assert all(shards)
    for shard in shards:
        assert all({f"{n.partition('[')[0]}[{m}]" for m in range(3)} <= shard for n in shard)


def test_files_that_changed_run_whole_and_a_share_of_the_tables_of_others() -> None:
    names = [f"tests/f/test_{f}.py::test_{n}[{m}]" for f in "ab" for n in range(100) for m in range(2)]
    found = chosen(names, whole=["tests/f/test_a.py"], share=0.1, seed="s")
    assert {n for n in found if "test_a.py" in n} == {n for n in names if "test_a.py" in n}
    others = {n for n in found if "test_b.py" in n}
    assert 4 <= len(others) <= 36
    assert len(others) == 2 * len({n.partition("[")[0] for n in others})  # whole tables
    assert {n for n in chosen(names, whole=[], share=0.1, seed="t") if "test_b.py" in n} != others
    assert chosen(names, whole=[]) == set()


def test_what_the_area_says_reaches_pytest_and_no_pytest_below_it(tmp_path: Path) -> None:
    """The hook of tests/conftest.py takes the variable away: a test that starts pytest wants that to run."""
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "reach").symlink_to(ROOT / "tests" / "reach")
    (tmp_path / "test_a.py").write_text(
        "import os\ndef test_one():\n    print('seen', os.environ.get('JITCACHE_TEST_ROWS'))\ndef test_two(): pass\n"
    )
    want = Wanted(later={"*test_two": 0}, which="push").text()
    env = {**os.environ, rows.VARIABLE: want}
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-c", os.devnull, "test_a.py"]
    p = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert "seen None" in p.stdout
    assert "1 passed, 1 deselected" in p.stdout
