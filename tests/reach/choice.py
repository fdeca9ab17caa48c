"""What of each area runs: all that a change reaches, and a tenth of the rest.

A tenth is drawn anew for each commit, so that an arrow which the tables lack is noticed
after a few of them. It makes at most two environments with frameworks.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import rows
from .rooms import ROOT, TESTS, Rooms, read

if TYPE_CHECKING:
    from areas.area import Area

#: The share of tests that runs though no change has reached it.
SHARE = 0.1

#: How many environments with frameworks are made for that share.
ENVIRONMENTS = 2

#: Files with a line for an area: a changed line is a change to that area alone.
LISTS = ("tests/expected.txt", "tests/skips.txt")

#: Files that no area stands on: the name of the base, and scripts that run outside CI.
IDLE = (".ci/base", "findings/")


#: The environment of an area that makes all of them: nothing is drawn of it.
ALL_ENVIRONMENTS = "all"


class Choice(NamedTuple):
    """What of an area runs, and why."""

    kind: str  # "ran", "tenth" or "inherited"
    why: str
    #: The parts of which all runs, None for all parts.
    whole: frozenset[str] | None = None
    #: The share of the other parts that runs, and what it is drawn by.
    share: float = 0.0
    seed: str = ""

    def takes(self, part: str) -> bool:
        """Whether a part that is not divided runs."""
        return self.whole is None or part in self.whole or rows.drawn(part, self.share, self.seed)


#: The rooms of a part that reads all files: it always runs, and says nothing of what else reads a file.
EVERY_FILE = ("*",)

ALL = Choice("ran", "it was asked for")


def everything(areas: Iterable[Area], why: str) -> dict[str, Choice]:
    """Return the choice of all areas."""
    return {area.name: Choice("ran", f"everything runs: {why}") for area in areas}


@functools.cache
def modules_of(module: str) -> frozenset[str]:
    """Return the files of a module of tests/areas, and of those that it imports there."""
    folder, found, left = ROOT / "tests" / "areas", set(), [module]
    while left:
        name = left.pop()
        file = folder / f"{name}.py"
        if name in found or not file.exists():
            continue
        found.add(name)
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                left += [node.module] if node.module else [alias.name for alias in node.names]
    return frozenset(f"tests/areas/{name}.py" for name in found)


def _module(area: Area) -> str:
    run = area.run.func if isinstance(area.run, functools.partial) else area.run
    return run.__module__.rpartition(".")[2]


class Reach:
    """Which rooms the areas stand on."""

    def __init__(self, rooms: Rooms, paths: Sequence[str]) -> None:
        self.rooms = rooms
        self.all = {room for path in paths if (room := rooms.room_of(path))} | set(rooms.needs)
        self.paths = paths
        self._tests = [path for path in paths if re.search(r"/test_\w+\.py$", path)]
        self._parts: dict[str, dict[str, frozenset[str]]] = {}
        self._of: dict[str, dict[str, str]] = {}
        self._covered: dict[str, frozenset[str]] = {}

    @classmethod
    def of_checkout(cls) -> Reach:
        """Return the reach of this checkout's areas."""
        command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return cls(read(), [path for path in listed.split("\0") if path])

    def expand(self, names: Iterable[str]) -> frozenset[str]:
        """Return the rooms that names stand for. Raise ValueError if one stands for none."""
        found: set[str] = set()
        for name in names:
            own = {r for r in self.all if r.startswith(name[:-1])} if name.endswith("*") else {name} & self.all
            if not own:
                raise ValueError(f"no room {name}")
            found |= own
        return frozenset(found)

    def parts(self, area: Area) -> dict[str, frozenset[str]]:
        """Return the parts of an area: files of tests, and what was declared; with the rooms of their own."""
        if (found := self._parts.get(area.name)) is None:
            folders = tuple(f"{folder}/" for folder in area.folders)
            found = {path: frozenset({path}) for path in self._tests if folders and path.startswith(folders)}
            if area.only:
                found = {path: own for path, own in found.items() if any(rows.fits(file, path) for file in area.only)}
            declared = {part: names for part, names in area.parts.items() if not area.only or part in found}
            for part, names in declared.items():
                if names == EVERY_FILE:
                    found[part] = frozenset(EVERY_FILE)
                    continue
                found[part] = found.get(part, frozenset()) | self.expand(names)
            self._parts[area.name] = found
        return found

    def of(self, area: Area) -> dict[str, str]:
        """Return the rooms that all tests of an area stand on, each with the room that needs it."""
        if area.name not in self._of:
            self._of[area.name] = self.rooms.way([*self.expand(area.uses), *area.folders, *modules_of(_module(area))])
        return self._of[area.name]

    def covered(self, area: Area) -> frozenset[str]:
        """Return all rooms that an area stands on, with those of its parts."""
        if area.name not in self._covered:
            own = (room for rooms in self.parts(area).values() for room in rooms if room not in EVERY_FILE)
            self._covered[area.name] = frozenset(self.of(area)) | self.rooms.below(own)
        return self._covered[area.name]


def _path(way: Mapping[str, str], room: str) -> str:
    """Return how one comes from a room to what stands on it."""
    names = [room]
    while above := way[names[-1]]:
        names.append(above)
    return " -> ".join(names)


def uncovered(areas: Sequence[Area], reach: Reach, files: Iterable[str]) -> dict[str, str]:
    """Return the changed files that no area stands on, each with the reason."""
    known = frozenset().union(*(reach.covered(area) for area in areas if not area.always))
    bad = {}
    for file in files:
        room = reach.rooms.room_of(file)
        if file.startswith(IDLE) or file in LISTS:
            continue
        if room is None:
            bad[file] = "it is in no room"
        elif room not in known and not room.endswith(TESTS):
            bad[file] = f"no area alone stands on {room}"
    return bad


def choose(
    areas: Sequence[Area], reach: Reach, files: Mapping[str, Iterable[str]], seed: str, asked: Iterable[str] = ()
) -> dict[str, Choice]:
    """Choose what of each area runs.

    ``files`` are the changed files; with the areas that a list's changed lines name.
    ``asked`` are the areas that are about to run: two of their environments are drawn.
    """
    if bad := uncovered(areas, reach, files):
        return everything(areas, "; ".join(f"{file}: {why}" for file, why in sorted(bad.items())[:3]))
    changed: dict[str, str] = {}
    for file in files:
        if not file.startswith(IDLE) and file not in LISTS:
            changed.setdefault(reach.rooms.room_of(file) or "", file)
    named = {name for file in LISTS for name in files.get(file, ())}
    choices = {area.name: _reached(area, reach, changed, named) for area in areas}
    share = _drawn(areas, choices, seed, set(asked))
    return {
        area.name: choices[area.name] if choices[area.name].kind == "ran" and choices[area.name].whole is None
        else _shared(area, choices[area.name], reach, share.get(area.name, 0.0), seed)
        for area in areas
    }  # fmt: skip


def _reached(area: Area, reach: Reach, changed: Mapping[str, str], named: set[str]) -> Choice:
    """Return what of an area the changed rooms reach."""
    if area.always:
        return Choice("ran", "it always runs")
    if area.name in named:
        return Choice("ran", "a list has another line about it")
    way = reach.of(area)
    for room in way:
        if room in changed:
            return Choice("ran", f"{changed[room]} has changed: {_path(way, room)}")
    whole, why = set(), ""
    for part, rooms in reach.parts(area).items():
        if rooms == frozenset(EVERY_FILE):
            whole.add(part)
            why = why or f"{part} reads all files"
        below = reach.rooms.way(rooms)
        for room in below:
            if room in changed:
                whole.add(part)
                why = why or f"{changed[room]} has changed: {_path(below, room)}"
    return Choice("ran", why, frozenset(whole)) if whole else Choice("inherited", "no change reaches it", frozenset())


def _drawn(areas: Sequence[Area], choices: Mapping[str, Choice], seed: str, asked: set[str]) -> dict[str, float]:
    """Return the share of each area that no change has reached. Of environments with frameworks it makes two."""
    idle = [a for a in areas if choices[a.name].kind != "ran" and (not asked or a.name in asked)]
    environments = sorted(
        {a.environment for a in idle} - {"", ALL_ENVIRONMENTS}, key=lambda name: zlib.crc32(f"{seed} {name}".encode())
    )
    taken = environments[:ENVIRONMENTS]
    more = len(environments) / max(1, len(taken))
    share = {a.name: SHARE for a in areas if not a.environment}
    share |= {a.name: min(1.0, SHARE * more) for a in idle if a.environment in taken}
    return share


def _shared(area: Area, choice: Choice, reach: Reach, share: float, seed: str) -> Choice:
    """Add its share of the parts that no change has reached."""
    if choice.kind == "ran":
        return choice._replace(share=share, seed=seed)
    # Files of tests are divided by tables, so something runs of almost every area that has a folder.
    runs = share > 0 and (
        bool(area.folders) or any(rows.drawn(p, share, seed) for p in reach.parts(area) or [area.name])
    )
    return choice._replace(kind="tenth", share=share, seed=seed) if runs else choice
