"""The rooms of ARCHITECTURE.md: which files each holds, and which others it stands on."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent

#: The heads of the two tables: of imports in Go, and of everything else.
_IMPORTS = "| room | may use |"
_OTHERS = "| room | files | also needs | how |"

#: What Go's tests of a room are a room of, beside its name: no other room stands on them.
TESTS = " tests"


class Rooms(NamedTuple):
    """Rooms, by name."""

    #: The rooms that each needs.
    needs: Mapping[str, frozenset[str]]
    #: The files of rooms that are no folder of their own name: a path, or a folder if it ends in a slash.
    files: Mapping[str, tuple[str, ...]]

    def room_of(self, path: str) -> str | None:
        """Return the room of a file, None if no rule has it."""
        for room, own in self.files.items():
            if any(path == file or (file.endswith("/") and path.startswith(file)) for file in own):
                return room
        if re.fullmatch(r"tests/.*/test_\w+\.py|tests/areas/\w+\.py|docs/[\w.]+|[A-Z]+\.md|LICENSE", path):
            return path  # a file of tests, and a page, are rooms of their own
        folder, _, name = path.rpartition("/")
        top = folder.split("/")
        if top[0] in ("tests", "examples"):
            return "/".join(top[:2]) if len(top) > 1 else path
        if top[0] == "docs":
            return "/".join(top[:2])
        while folder and folder not in self.needs:
            folder = folder.rpartition("/")[0]
        if folder and (name.endswith("_test.go") or "/testdata/" in path):
            return folder + TESTS
        return folder or None

    def below(self, rooms: Iterable[str]) -> frozenset[str]:
        """Return rooms, and all that they stand on."""
        return frozenset(self.way(rooms))

    def way(self, rooms: Iterable[str]) -> dict[str, str]:
        """Return the rooms that some stand on, each with the room that needs it, "" for those that were given."""
        found = dict.fromkeys(rooms, "")
        left = deque(found)
        while left:
            room = left.popleft()
            for below in sorted(self.needs.get(room, ())):
                if below not in found:
                    found[below] = room
                    left.append(below)
        return found


def table(text: str, head: str) -> list[list[str]]:
    """Return the cells of the rows below a table's head."""
    _, found, rows = text.partition(head + "\n")
    if not found:
        raise ValueError(f"ARCHITECTURE.md has no table {head}")
    lines = rows.splitlines()[1:]
    end = next((n for n, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:end]]


def _names(cell: str) -> frozenset[str]:
    return frozenset() if cell in ("", "nothing") else frozenset(cell.split(", "))


def read(text: str | None = None) -> Rooms:
    """Read both tables. Raise ValueError if they do not fit together."""
    if text is None:
        text = (ROOT / "ARCHITECTURE.md").read_text()
    needs = {room: _names(below) for room, below in table(text, _IMPORTS)}
    imported = frozenset(needs)
    files = {}
    for room, own, below, _ in table(text, _OTHERS):
        whole = room.rpartition("/")[0]
        if own:
            files[room] = tuple(own.split())
            if whole in needs:  # a part of a room of Go's takes the arrows of its row from the room
                needs[whole] -= _names(below) & imported
        needs[room] = needs.get(room, frozenset()) | _names(below)
    unknown = {below for all_ in needs.values() for below in all_} - set(needs)
    if unknown:
        raise ValueError(f"ARCHITECTURE.md: no row for {', '.join(sorted(unknown))}")
    return Rooms(needs, files)
