"""The order of areas, and what a run says of them."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

import run as runner
from areas import schedule
from areas.area import Area, When
from areas.common import CHOICES, LEFT, SHARD, Count

from reach.choice import Choice


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(schedule, "RECORDED", tmp_path / "recorded.txt")
    monkeypatch.setattr(schedule, "WRITTEN", tmp_path / "written.txt")
    monkeypatch.setattr(schedule, "_took", {})
    for table in (CHOICES, LEFT):
        monkeypatch.setattr(runner, "CHOICES" if table is CHOICES else "LEFT", table)
    monkeypatch.setattr(runner, "expected", dict)
    before = dict(CHOICES)
    yield
    CHOICES.clear()
    CHOICES.update(before)


def area(name: str, run: object, **more: object) -> Area:
    return Area(name, run, When.PUSH, (), **more)


def test_longest_comes_first_and_an_unknown_one_before_short_ones() -> None:
    schedule.RECORDED.write_text("# head\nshort 1 1\nlong 500 900\n")
    order: list[str] = []
    areas = [area(n, lambda n=n: order.append(n) or Count(1, 0, 0)) for n in ("short", "new", "long")]
    assert schedule.run(areas) == {n: Count(1, 0, 0) for n in ("short", "new", "long")}
    assert order == ["long", "new", "short"]


def test_areas_that_measure_times_run_one_after_the_other_and_two_others_beside_them() -> None:
    now, most, most_alone, lock = set(), [0], [0], threading.Lock()

    def work(name: str, alone: bool) -> Count:
        with lock:
            now.add((name, alone))
            most[0] = max(most[0], len(now))
            most_alone[0] = max(most_alone[0], sum(a for _, a in now))
        time.sleep(0.02)  # long enough to meet another
        with lock:
            now.remove((name, alone))
        return Count(1, 0, 0)

    areas = [area(f"a{n}", lambda n=n: work(f"a{n}", True)) for n in range(4)]
    areas += [area(f"b{n}", lambda n=n: work(f"b{n}", False), beside=True) for n in range(8)]
    assert len(schedule.run(areas)) == 12
    assert most_alone == [1]
    assert most == [3]


def test_shards_of_an_area_are_counted_together() -> None:
    seen = []
    count = schedule.run([area("many", lambda: seen.append(SHARD.part) or Count(2, 1, 0), shards=3)])
    assert count == {"many": Count(6, 3, 0)}
    assert sorted(seen) == [(1, 3), (2, 3), (3, 3)]


def test_times_of_what_ran_whole_are_written_beside_the_others() -> None:
    schedule.RECORDED.write_text("# head\nelsewhere 7 8\none 99 99\npart 5 6\n")
    CHOICES["part"] = Choice("tenth", "", frozenset())
    counts = schedule.run([area(n, lambda: Count(1, 0, 0)) for n in ("one", "part")])
    schedule.record(counts)
    assert schedule.WRITTEN.read_text().splitlines()[1:] == ["elsewhere 7 8", "one 0 0", "part 5 6"]


def test_area_that_runs_a_part_has_no_minimum_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "expected", lambda: {"one": 10, "tenths": 30})
    assert "10" in runner.problem("one", Count(3, 0, 0))
    CHOICES["one"] = Choice("tenth", "", frozenset())
    assert runner.problem("one", Count(3, 0, 0)) == ""


def test_tenths_have_a_minimum_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "expected", lambda: {"tenths": 30})
    names = [f"a{n}" for n in range(runner.MANY)]
    CHOICES.update(dict.fromkeys(names, Choice("tenth", "", frozenset())))
    assert runner.problem_of_tenths(dict.fromkeys(names, Count(2, 0, 0))) == ""
    assert runner.problem_of_tenths(dict.fromkeys(names, Count(1, 0, 0))) == "20 ran, tests/expected.txt says 30"
    few = names[:-1]  # where a change reaches most areas, few tenths are left
    assert runner.problem_of_tenths(dict.fromkeys(few, Count(1, 0, 0))) == ""


def test_each_area_has_a_line_that_says_what_ran_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    areas = {n: area(n, lambda: Count(1, 0, 0)) for n in ("one", "two", "three")}
    monkeypatch.setattr(runner, "AREAS", areas)
    choices = {
        "one": Choice("ran", "a"),
        "two": Choice("tenth", "b", frozenset()),
        "three": Choice("inherited", "c", frozenset()),
    }
    assert runner.run(["one", "two", "three"], choices) == 0
    lines = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines() if line[:1].isalpha()}
    assert (lines["one"], lines["two"], lines["three"]) == ("ran", "tenth", "inherited")
    runner.explain(["one", "three"], choices)
    assert capsys.readouterr().out.split() == ["one", "ran", "a", "three", "inherited", "c"]


def test_recorded_times_are_of_areas_that_are_there() -> None:
    recorded = ROOT / "tests" / "seconds.txt"
    names = [line.split()[0] for line in recorded.read_text().splitlines() if line and line[0] != "#"]
    assert names
    assert set(names) <= set(runner.AREAS)


def test_lines_of_lists_name_their_areas() -> None:
    assert runner.areas_named("tests/expected.txt", ["# one 1", "two 2", ""]) == ["two"]
    assert runner.areas_named("tests/skips.txt", ["bare,ci go,race a.b it is so", "", "# no"]) == ["go", "race"]
