"""The cache directory is removed, renamed or replaced while processes work in it.

They hold no descriptor on it, so the path leads them to whatever is there now:
nothing, which they make anew, or something that they must not use.
"""

from __future__ import annotations

import ctypes
import shutil
import time
from pathlib import Path
from typing import Any, Callable

import pytest
from member import Member

RENAME_EXCHANGE = 2


def swap(one: Path, other: Path) -> None:
    """Exchange two names at once, so that nobody can make a folder in between."""
    at = -100
    assert ctypes.CDLL(None).renameat2(at, bytes(one), at, bytes(other), RENAME_EXCHANGE) == 0


def removed(directory: Path) -> None:
    (directory / "mark").touch()
    # The others make folders again while this removes them.
    for _ in range(3):
        shutil.rmtree(directory, ignore_errors=True)
    assert not (directory / "mark").exists()


def renamed(directory: Path) -> None:
    directory.rename(directory.with_name("renamed"))


def replaced_by_a_file(directory: Path) -> None:
    other = directory.with_name("other")
    other.write_text("not a folder")
    swap(directory, other)


def link_elsewhere(directory: Path) -> Path:
    directory.with_name("elsewhere").mkdir(mode=0o700)
    directory.with_name("other").symlink_to(directory.with_name("elsewhere"))
    return directory.with_name("other")


def replaced_by_a_link(directory: Path) -> None:
    swap(directory, link_elsewhere(directory))


def folder_replaced_by_a_link(directory: Path) -> None:
    """One folder below the root, where a link is never followed."""
    swap(directory / "v1" / "entries", link_elsewhere(directory))


# What happens, and what puts may then say; "stored" where the directory is made anew.
MOVES: list[tuple[Callable[[Path], None], set[str]]] = [
    (removed, {"stored"}),
    (renamed, {"stored"}),
    (replaced_by_a_file, {"not a regular file"}),
    (replaced_by_a_link, {"symlink"}),
    (folder_replaced_by_a_link, {"symlink"}),
]


def works(members: list[Member], seconds: float, during: Callable[[], None] = lambda: None) -> list[dict[str, int]]:
    """Have all members work at once; nothing is raised, no bytes are wrong."""
    for seed, member in enumerate(members):
        member.begin("stir", seconds, seed)
    time.sleep(seconds / 3)
    during()
    counts = [member.end() for member in members]
    for count in counts:
        assert sum(count.values()) > 0
        assert not [outcome for outcome in count if "WRONG" in outcome], count
        assert count.get("compile right", 0) > 0, "it did not compile"
    return counts


def outcomes(counts: list[dict[str, int]], what: str) -> set[str]:
    return {o.partition(" ")[2] for count in counts for o in count if o.startswith(what)}


@pytest.mark.control("norepair", rows=["removed", "renamed", "replaced_by_a_file"])
@pytest.mark.control("keepopen", rows=["removed", "renamed"])
@pytest.mark.control("follow", rows=["replaced_by_a_link", "folder_replaced_by_a_link"])
@pytest.mark.parametrize(("move", "stored"), MOVES, ids=[m.__name__ for m, _ in MOVES])
def test_directory_moves_under_working_processes(move: Any, stored: set[str], tmp_path: Path, long: bool) -> None:
    directory = tmp_path / "cache"
    seconds = 8.0 if long else 0.5
    with Member() as one, Member() as two:
        members = [one, two]
        for member in members:
            member.do("open", str(directory))
        assert "stored" in outcomes(works(members, seconds), "put")
        works(members, seconds, lambda: move(directory))
        after = works(members, seconds)
        assert outcomes(after, "put") == stored
        assert "right" in outcomes(after, "get") or stored != {"stored"}
        elsewhere = tmp_path / "elsewhere"
        assert not elsewhere.exists() or list(elsewhere.iterdir()) == [], "written through a link"
        # Out of the way with it: the same processes, and a new one, go on in a new directory.
        if directory.is_symlink() or directory.is_file():
            directory.unlink()
        elif stored != {"stored"}:
            shutil.rmtree(directory)
        again = works(members, seconds)
        assert "stored" in outcomes(again, "put") and "right" in outcomes(again, "get"), again
        assert all(len(member.do("warnings")) <= 4 for member in members)
        assert [m.descriptors(tmp_path) for m in members] == [[], []]
    with Member() as new:
        new.do("open", str(directory))
        assert new.do("task", "verify")["bad"] == []
        assert new.do("put", 1000) == "stored"
        assert new.do("get", 1000) == "right"
    assert [p for p in (directory / "v1" / "tmp").iterdir() if p.is_file()] == []
