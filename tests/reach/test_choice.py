"""What of each area a change that was made up reaches."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))

from areas import AREAS
from areas.area import When

from reach import choice, rooms

REACH = choice.Reach.of_checkout()
SEED = "0" * 40


def chosen(*files: str, seed: str = SEED, reach: choice.Reach = REACH, **lists: list[str]) -> dict[str, choice.Choice]:
    named = {f"tests/{name}.txt": areas for name, areas in lists.items()}
    return choice.choose(list(AREAS.values()), reach, {**dict.fromkeys(files, ()), **named}, seed)


def pushed(choices: dict[str, choice.Choice]) -> dict[str, choice.Choice]:
    """Return the choices of areas that a push runs, other than those that always run."""
    return {n: c for n, c in choices.items() if AREAS[n].when in (When.TEST, When.PUSH) and not AREAS[n].always}


def ran(choices: dict[str, choice.Choice]) -> set[str]:
    return {name for name, c in pushed(choices).items() if c.kind == "ran"}


def in_part(choices: dict[str, choice.Choice]) -> dict[str, set[str]]:
    """Return the areas of which named parts run whole, with these."""
    return {n: set(c.whole) for n, c in pushed(choices).items() if c.kind == "ran" and c.whole is not None}


#: A new file in each room, which the tables have to place.
IN_ROOMS = {room: f"{room}/made_up.go" for room in REACH.rooms.needs if room not in REACH.rooms.files}
IN_ROOMS |= {
    room: f"{files[0]}made_up.py" if files[0].endswith("/") else files[0] for room, files in REACH.rooms.files.items()
}


@pytest.mark.parametrize("room", IN_ROOMS)
def test_change_of_a_room_runs_all_that_stands_on_it_and_nothing_else(room: str) -> None:
    choices = chosen(IN_ROOMS[room])
    for name, area in AREAS.items():
        if area.always:
            continue
        whole = REACH.of(area)
        parts = {p for p, own in REACH.parts(area).items() if "*" in own or room in REACH.rooms.below(own)}
        if room in whole:
            assert choices[name][0] == "ran", name
            assert choices[name].whole is None, name
        else:
            assert (choices[name].whole or set()) == parts, name
            assert (choices[name].kind == "ran") == bool(parts), name
    assert ran(choices), "a room that no area stands on is no room"


#: Changes, with the areas of a push that run whole, and parts that run whole.
EXPECTED = [
    ("python/jitcache/adapters/numba/_walk.py", {"wheel", "sdist", "gpu", "machines", "numba", "frameworks", "pages", "bench", "types"}, {"python", "package", "torch"}),
    ("python/jitcache/adapters/jax/_key.py", {"wheel", "sdist", "gpu", "machines", "jax", "frameworks", "pages", "bench", "types"}, {"python", "package"}),
    ("tests/numba/test_right.py", set(), {"numba", "package"}),
    ("tests/numba/project.py", {"numba"}, {"package"}),
    ("core/store/put_test.go", set(), {"go", "go-push", "race", "package"}),
    ("docs/numba.md", {"pages"}, {"numba", "python", "package"}),
    ("tests/areas/mpi.py", {"mpi", "underworld3"}, {"package"}),
]  # fmt: skip


@pytest.mark.parametrize(("file", "whole", "parts"), EXPECTED, ids=[row[0] for row in EXPECTED])
def test_change_reaches_these(file: str, whole: set[str], parts: set[str]) -> None:
    choices = chosen(file)
    assert ran(choices) - set(in_part(choices)) == whole
    assert set(in_part(choices)) == parts


def test_core_reaches_every_adapter_and_the_observer_only_those_that_observe() -> None:
    adapters = {"numba", "cute-dsl", "cutile", "triton", "jax", "torch", "warp", "cupy", "cuda-core", "underworld3"}
    assert adapters <= ran(chosen("core/store/read.go"))
    observed = chosen("observe/run.go")
    assert adapters & ran(observed) - set(in_part(observed)) == {"cupy", "cuda-core", "cutile", "torch", "underworld3"}
    assert "observe" not in ran(chosen("core/store/read.go"))


def without_arrow(room: str, below: str) -> choice.Reach:
    needs = {**REACH.rooms.needs, room: REACH.rooms.needs[room] - {below}}
    return choice.Reach(REACH.rooms._replace(needs=needs), REACH.paths)


@pytest.mark.parametrize(
    ("room", "below", "change", "area"),
    [
        ("core/remote", "storage/jitcache-storage", "storage/engine/made_up.go", "numba"),
        ("python/library", "capi", "core/store/made_up.go", "triton"),
        ("capi/jobs", "cuda", "cuda/driver/made_up.go", "cupy"),
        ("python/package", "python/memoize", "python/jitcache/_memoize/made_up.py", "storm"),
    ],
)
def test_arrow_that_is_dropped_changes_what_runs(room: str, below: str, change: str, area: str) -> None:
    """So the tests of the tables, which always run, have to notice it: tests/arch and test_rooms.py."""
    assert area in ran(chosen(change))
    assert area not in ran(chosen(change, reach=without_arrow(room, below)))


@pytest.mark.parametrize(("room", "below"), [("observe", "observe/tracer"), ("cuda/worker", "cuda/worker/program")])
def test_room_that_nothing_stands_on_any_more_runs_everything(room: str, below: str) -> None:
    choices = chosen(f"{below}/made_up.c", reach=without_arrow(room, below))
    assert ran(choices) == set(pushed(choices))


@pytest.mark.parametrize(
    "file",
    ["Makefile", "go.mod", "build_library.py", "pyproject.toml", ".github/workflows/new.yml", "new_room/file.go",
     "python/jitcache/_new.py", "tests/run.py", "tests/conftest.py", "tests/areas/table.py", "tests/areas/common.py",
     "tests/requirements.txt", "tests/deps-ci.sh", "tests/bare.py", ".ci/run", "examples_of_others/a.py", "tests/new/made_up.py"],
)  # fmt: skip
def test_file_that_no_rule_covers_runs_everything(file: str) -> None:
    choices = chosen(file)
    assert ran(choices) == set(pushed(choices))
    assert not in_part(choices)


def test_choice_itself_runs_everything() -> None:
    for file in ("tests/reach/rooms.py", "tests/reach/choice.py"):
        assert ran(chosen(file)) == set(pushed(chosen(file)))


def test_areas_that_always_run_run() -> None:
    choices = chosen("docs/numba.md")
    for name in ("reach", "arch", "lint"):
        assert (choices[name].kind, choices[name].whole) == ("ran", None)


def test_line_of_a_list_is_a_change_of_its_area() -> None:
    choices = chosen(expected=["warp"], skips=["jax", "cupy"])
    assert ran(choices) == {"warp", "jax", "cupy", "package"}  # of which a part reads all files


def test_name_of_the_base_and_what_runs_outside_ci_are_no_changes() -> None:
    assert ran(chosen(".ci/base", "findings/made_up.sh")) == {"package"}  # of which a part reads all files


def tables(choices: dict[str, choice.Choice]) -> set[str]:
    """Return the parts that run though no change reaches them, of areas without files of tests."""
    drawn = set()
    for name, c in pushed(choices).items():
        if c.kind != "ran":
            drawn |= {f"{name} {part}" for part in REACH.parts(AREAS[name]) or [name] if c.takes(part)}
    return drawn


def test_tenth_is_another_for_each_commit_and_a_tenth() -> None:
    drawn = [tables(chosen(".ci/base", seed=f"{n:040x}")) for n in range(200)]
    of = sum(len(REACH.parts(AREAS[n]) or [n]) for n in pushed(chosen(".ci/base")) if not AREAS[n].environment)
    mean = sum(len([t for t in d if not AREAS[t.split()[0]].environment]) for d in drawn) / len(drawn)
    assert 0.08 * of < mean < 0.12 * of
    assert len({frozenset(d) for d in drawn}) > 150
    assert len(set().union(*drawn)) > 0.95 * of  # none is left out for ever


def test_tenth_makes_two_environments_with_frameworks() -> None:
    seen = set()
    for n in range(40):
        choices = pushed(chosen(".ci/base", seed=f"{n:040x}"))
        made = {AREAS[name].environment for name, c in choices.items() if c.kind == "tenth"} - {""}
        assert len(made) == 2
        assert "all" not in made  # an area that makes all of them
        seen |= made
    assert seen == {a.environment for a in AREAS.values() if a.environment and a.when is When.PUSH} - {"all"}


def test_shares_of_drawn_environments_make_up_for_the_others() -> None:
    choices = pushed(chosen(".ci/base"))
    shares = [c.share for name, c in choices.items() if c.kind == "tenth" and AREAS[name].environment]
    environments = {a.environment for a in AREAS.values() if a.when is When.PUSH and a.environment not in ("", "all")}
    assert sum(shares) == pytest.approx(choice.SHARE * len(environments))


def test_each_area_names_rooms_that_are_there() -> None:
    for area in AREAS.values():
        REACH.of(area)
        REACH.parts(area)


def test_folders_of_areas_have_tests() -> None:
    for area in AREAS.values():
        for folder in area.folders:
            assert any(Path(p).match(f"{folder}/test_*.py") for p in REACH.paths), f"{area.name}: {folder}"
        for part in area.parts:
            assert (ROOT / part).exists(), f"{area.name}: {part}"


def test_why_names_the_file_and_the_way() -> None:
    choices = chosen("core/store/read.go")
    assert choices["numba"].why.startswith("core/store/read.go has changed: core/store -> ")
    assert choices["numba"].why.endswith("-> python/adapters/numba")
    assert "no area alone stands on" in chosen("tests/run.py")["numba"].why
    assert "it is in no room" in chosen("Makefile")["numba"].why
    assert rooms.read().room_of("Makefile") is None
