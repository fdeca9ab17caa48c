"""Kept answers of plain frameworks are used while nothing has changed, and one that has become wrong is noticed."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "frameworks"))

import plain_answers
from plain_answers import AGAIN, PlainAnswers
from prepared import FRESH

ROWS = [f"row {n}" for n in range(20 * AGAIN)]


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


def ask(folder: Path, says: str = "1", pinned: str = "pins", at: str = "commit") -> PlainAnswers:
    """Ask for all rows in a session, in which the plain framework says the same to each."""
    answers = PlainAnswers("test", folder, pinned, at)
    assert {answers.answer(row, lambda: says) for row in ROWS} == {says}
    return answers


def test_an_answer_is_made_once_and_one_in_twenty_again(tmp_path: Path) -> None:
    assert ask(tmp_path).made == len(ROWS)
    again = ask(tmp_path)
    assert again.taken + again.made == len(ROWS)
    assert len(ROWS) / AGAIN / 2 < again.made < len(ROWS) / AGAIN * 2


def test_others_are_made_again_at_another_commit(tmp_path: Path) -> None:
    ask(tmp_path)
    answers = PlainAnswers("test", tmp_path, "pins", "commit")
    names = [plain_answers.digest(row) for row in ROWS]
    due = {at: {n for n in names if PlainAnswers("test", tmp_path, "pins", at).is_due(n)} for at in ("commit", "next")}
    assert due["commit"] == {n for n in names if answers.is_due(n)}
    assert not due["commit"] & due["next"] or due["commit"] != due["next"]
    assert {
        n for at in range(40 * AGAIN) for n in names[:5] if PlainAnswers("test", tmp_path, "", str(at)).is_due(n)
    } == {*names[:5]}


def test_an_answer_that_is_wrong_is_noticed_and_forgotten_with_all_others(tmp_path: Path) -> None:
    ask(tmp_path)
    with pytest.raises(AssertionError, match="a kept answer of the plain framework is '1'; it now gives '2'"):
        ask(tmp_path, "2")
    assert ask(tmp_path, "2").made == len(ROWS)


def test_other_pins_and_other_rows_are_others(tmp_path: Path) -> None:
    ask(tmp_path)
    assert ask(tmp_path, "2", pinned="other").made == len(ROWS)
    assert PlainAnswers("test", tmp_path, "pins", "commit").answer("another row", lambda: "3") == "3"


def test_all_are_made_again_if_one_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(tmp_path)
    monkeypatch.setenv(FRESH, "1")
    assert ask(tmp_path).made == len(ROWS)
    with pytest.raises(AssertionError, match="a kept answer"):
        ask(tmp_path, "2")


def test_a_row_that_fails_is_not_kept(tmp_path: Path) -> None:
    answers = PlainAnswers("test", tmp_path, "pins", "commit")
    with pytest.raises(ZeroDivisionError):
        answers.answer("row", lambda: str(1 / 0))
    assert answers.answer("row", lambda: "1") == "1"


def test_a_line_that_was_not_written_whole_is_not_an_answer(tmp_path: Path) -> None:
    ask(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text()[:-4])
    assert ask(tmp_path).made >= 1
    file.write_text("[]\n" + file.read_text())
    assert ask(tmp_path).taken


def test_two_sessions_add_to_one_file(tmp_path: Path) -> None:
    first, second = (PlainAnswers("test", tmp_path, "pins", "commit") for _ in range(2))
    first.answer("a", lambda: "1")
    second.answer("b", lambda: "2")
    third = PlainAnswers("test", tmp_path, "pins", "commit")
    assert [third.answer(row, partial(str, wanted)) for row, wanted in (("a", "1"), ("b", "2"))] == ["1", "2"]


def test_pins_change_with_packages_the_interpreter_and_the_processor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = plain_answers.pins()
    assert plain_answers.pins() == before
    info = tmp_path / "more-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    other = plain_answers.pins()
    assert other != before
    (info / "RECORD").write_text("more.py,sha256=abc,3\n")
    assert plain_answers.pins() not in (before, other)
    monkeypatch.undo()
    monkeypatch.setattr(sys, "version", "3.99")
    assert plain_answers.pins() != before
