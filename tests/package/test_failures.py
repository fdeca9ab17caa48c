"""What a run of the tests says last of those that failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from areas import failures

FAILING = """
import pytest

@pytest.fixture
def broken():
    raise OSError("nothing there")

def test_a_fixture(broken):
    pass

@pytest.mark.parametrize("what", ["one word", "two - words"])
def test_each(what):
    print("printed by it")
    assert what == "", "\\n".join(["entering a folder", *map(str, range(40)), f"the error of {what}"])

class TestIn:
    def test_class(self):
        assert [1] == [2]
"""


def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    (tmp_path / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-rfEs", "-p", "no:cacheprovider", "test_it.py"]
    p = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    monkeypatch.setattr(failures, "TEXTS", {})
    for name, what in failures.of_pytest(p.stdout):
        failures.note("it", name, what)
    return failures.report("it")


def test_end_of_a_message_is_shown_and_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = said(tmp_path, monkeypatch, FAILING)
    assert report.count("FAILED it: ") == 4
    for what in ("one word", "two - words"):
        assert f"E         the error of {what}\n" in report
    assert "entering a folder" not in report
    assert "printed by it" not in report
    assert "test_it.py:14: AssertionError\n" in report
    assert "FAILED it: test_it.py::TestIn::test_class\n" in report
    assert "assert [1] == [2]" in report
    assert "OSError: nothing there" in report
    assert max(len(part.splitlines()) for part in report.split("FAILED it: ")) <= failures._LINES + 1


def test_file_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = said(tmp_path, monkeypatch, "import nowhere_at_all\n")
    assert report.startswith("FAILED it: test_it.py\n")
    assert "No module named 'nowhere_at_all'" in report
