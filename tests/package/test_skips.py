"""What the tests may skip, and an environment without compilers: the checks that others rest on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

import run as runner
from areas import AREAS, schedule, skips
from areas.area import Area, When
from areas.common import Count

LISTED = "bare,ci one t.py::a[*] why not\nbare two t.py::b it has no compiler\n"


@pytest.fixture(autouse=True)
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "skips.txt").write_text("# a remark\n\n" + LISTED)
    monkeypatch.setattr(skips, "LIST", tmp_path / "skips.txt")
    monkeypatch.setattr(skips, "NAMES", {})
    monkeypatch.setattr(skips, "PARTS", set())
    monkeypatch.setattr(skips, "SOME", set())
    monkeypatch.setattr(schedule, "WRITTEN", tmp_path / "seconds.txt")
    monkeypatch.setattr(runner, "expected", lambda: {"one": 3})
    monkeypatch.setenv("JITCACHE_TEST_SKIPS", "ci")


def test_listed_skip_is_none_too_few() -> None:
    skips.note("one", "t.py::a[x]", "t.py::a[y - z]")
    assert runner.problem("one", Count(1, 2, 0)) == ""
    assert "2 ran" in runner.problem("one", Count(0, 2, 0))


def test_skip_that_is_not_listed_has_failed() -> None:
    skips.note("one", "t.py::a[x]", "t.py::b")
    assert runner.problem("one", Count(2, 2, 0)) == "t.py::b was skipped"


def test_line_that_skips_nothing_has_failed() -> None:
    assert runner.problem("one", Count(3, 0, 0)) == "nothing was skipped by t.py::a[*]"
    assert runner.problem("two", Count(3, 0, 0)) == ""  # not in this environment


def test_line_about_a_row_may_skip_nothing_where_a_part_of_the_rows_is_run() -> None:
    skips.LIST.write_text(LISTED + "ci one t.py::c it is about another machine\n")
    skips.PARTS.add("one")
    assert runner.problem("one", Count(3, 0, 0)) == "nothing was skipped by t.py::c"
    skips.note("one", "t.py::b", "t.py::c")
    assert runner.problem("one", Count(2, 2, 0)) == "t.py::b was skipped"


def test_line_may_skip_nothing_where_some_of_the_tests_are_run() -> None:
    skips.SOME.add("one")
    assert runner.problem("one", Count(3, 0, 0)) == ""
    skips.note("one", "t.py::b")
    assert runner.problem("one", Count(2, 1, 0)) == "t.py::b was skipped"


def test_skip_without_a_name_has_failed() -> None:
    skips.note("one", "t.py::a[x]")
    assert "2 were skipped, and 1 names are known" in runner.problem("one", Count(2, 2, 0))


def test_pattern_stands_for_text_only_where_it_has_a_star() -> None:
    (row, _) = skips.rows()
    assert row.fits("t.py::a[x]")
    assert not row.fits("t.py::a")
    assert not row.fits("txpy::a[x]")


def test_area_is_left_out_only_where_it_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    (skips.LIST).write_text("bare one * it takes long\n")
    ran = []
    one = Area("one", lambda: ran.append("one") or Count(3, 0, 0), When.TEST, ())
    monkeypatch.setattr(runner, "AREAS", {"one": one})
    monkeypatch.setenv("JITCACHE_TEST_SKIPS", "bare")
    assert runner.run(["one"], {}) == 0
    assert ran == []
    assert "one is left out: it takes long" in capsys.readouterr().out
    monkeypatch.setenv("JITCACHE_TEST_SKIPS", "ci")
    assert runner.run(["one"], {}) == 0
    assert ran == ["one"]


def test_anything_may_be_skipped_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JITCACHE_TEST_SKIPS")
    skips.note("one", "t.py::c")
    assert runner.problem("one", Count(2, 1, 0)) == ""
    assert "2 ran" in runner.problem("one", Count(1, 1, 0))


def test_list_names_areas_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skips, "LIST", ROOT / "tests" / "skips.txt")
    for row in skips.rows():
        assert set(row.environments) <= {"bare", "ci"}
        assert set(row.areas) <= set(AREAS)
        assert row.reason


def bare(*command: str) -> str:
    p = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "bare.py"), *command], capture_output=True, text=True, check=False
    )
    return p.stdout


def test_bare_environment_has_no_compiler_and_the_rest() -> None:
    gone = "go gofmt gcc g++ cc c++ c99 cpp clang clang++ ld ld.bfd as ar x86_64-linux-gnu-gcc gcc-12 clang-16"
    assert bare("sh", "-c", f"for t in {gone}; do command -v $t; done") == ""
    assert len(bare("sh", "-c", "for t in python3 make git sh ls; do command -v $t; done").split()) == 5
    assert bare("sh", "-c", "ls -A $HOME; echo $JITCACHE_TEST_SKIPS") == "bare\n"
    assert bare("python3", "-c", "import sys; print(sys.version_info[:2])") == f"{sys.version_info[:2]}\n"


def test_bare_environment_passes_on_the_status() -> None:
    assert (
        subprocess.run([sys.executable, str(ROOT / "tests" / "bare.py"), "sh", "-c", "exit 7"], check=False).returncode
        == 7
    )
