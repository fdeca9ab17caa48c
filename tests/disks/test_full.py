"""Disks that are really full, read-only, or not ours; processes out of descriptors or file size."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import mounts
import pytest
from member import Member

root = pytest.mark.root
USER = 61001


def right_afterwards(directory: Path) -> None:
    """A new process finds nothing torn, nothing left over, and a cache that works."""
    with Member() as member:
        member.do("open", str(directory))
        assert member.do("task", "verify")["bad"] == []
        member.do("task", "clear")
        assert member.do("put", 900) == "stored"
        assert member.do("get", 900) == "right"
    assert list((directory / "v1" / "tmp").iterdir()) == []


@contextlib.contextmanager
def small_disk(kind: str, tmp_path: Path) -> Iterator[Path]:
    """A file system with little room: for a megabyte, or for a few files."""
    place = tmp_path / "disk"
    if kind == "ext4":
        if shutil.which("mkfs.ext4") is None or not Path("/dev/loop-control").exists():
            pytest.skip("no loop devices, or no mkfs.ext4")
        with mounts.disk(place, tmp_path / "image", 4 << 20):
            yield place
    else:
        with mounts.memory(place, kind):
            yield place


@pytest.mark.control("nowritecheck", rows=["size=1m"])
@root
@pytest.mark.parametrize("kind", ["size=1m", "nr_inodes=24", "ext4"])
def test_disk_that_fills_up_stores_what_fits(kind: str, tmp_path: Path) -> None:
    """Put after put until there is no room, or no inode; each is stored and right, or refused and counted."""
    with small_disk(kind, tmp_path) as place:
        directory, size = place / "cache", 100_000 if kind != "nr_inodes=24" else 100
        with Member() as member:
            member.do("open", str(directory))
            outcomes = [member.do("put", n, size) for n in range(80)]
            assert set(outcomes) == {"stored", "no space"}, outcomes
            stored = [n for n, outcome in enumerate(outcomes) if outcome == "stored"]
            assert [member.do("get", n, size) for n in stored] == ["right"] * len(stored)
            refused = outcomes.index("no space")
            assert member.do("get", refused, size) == "absent"
            # Replacing needs room for both: what was there stays.
            assert member.do("put", stored[-1], size, replace=True) in ("stored", "no space")
            assert member.do("get", stored[-1], size) == "right"
            assert member.do("compile", 500, 2 * size)[0]
            assert member.do("path", stored[0], size) == "right"
            counted = member.do("task", "stats")["total"]["not_stored_reasons"]
            assert set(counted) == {"no space"} and counted["no space"] >= outcomes.count("no space")
            assert len(member.do("warnings")) <= 2
        right_afterwards(directory)


@pytest.mark.control("nodegrade", rows=["size=1m"])
@root
@pytest.mark.parametrize("kind", ["size=1m", "ext4"])
def test_cache_cannot_be_made_on_a_full_disk(kind: str, tmp_path: Path) -> None:
    """It then works in memory, says so once, and is made when there is room."""
    with small_disk(kind, tmp_path) as place:
        ballast = mounts.fill(place)
        with Member() as member:
            member.do("open", str(place / "cache"))
            assert [member.do("compile", n, 30_000)[0] for n in range(3)] == [True] * 3
            assert len([w for w in member.do("warnings") if "memory only" in w]) <= 1
            member.do("open", str(place / "cache"))
            assert member.do("compile", 1, 30_000)[0]
            assert len([w for w in member.do("warnings") if "memory only" in w]) <= 1
        ballast.unlink()
        right_afterwards(place / "cache")


@pytest.mark.control("nowritable")
@root
def test_disk_that_becomes_read_only_is_read(tmp_path: Path) -> None:
    """Under an open cache, and for one that is opened then."""
    with mounts.memory(tmp_path / "disk", "size=10m") as place, Member() as old:
        directory = place / "cache"
        old.do("open", str(directory))
        assert old.do("put", 1) == "stored"
        mounts.run("mount", "-o", "remount,ro", place)
        with Member() as new:
            new.do("open", str(directory))
            for member in (old, new):
                assert member.do("get", 1) == "right"
                assert member.do("put", 2) == "read-only"
                assert member.do("compile", 3) == [True, 1]
                assert member.do("lease", 4) == "leased"
                assert member.do("task", "stats")["total"]["not_stored_reasons"] == {"read-only": 2}
                assert str(member.do("task", "trim"))
                assert len(member.do("warnings")) <= 1
            assert new.do("warnings") == []  # an image that was baked with a cache
        mounts.run("mount", "-o", "remount,rw", place)
        assert old.do("put", 2) == "stored"
        right_afterwards(directory)


@pytest.mark.control("nodegrade")
@pytest.mark.control("nowritable")
@root
def test_directory_of_mode_0500_is_read_by_its_user(tmp_path: Path) -> None:
    """By a numeric user id that no file knows; root could write it."""
    with mounts.memory(tmp_path / "disk", "size=10m") as place:
        directory = place / "cache"
        empty = place / "empty"
        empty.mkdir()
        with Member() as member:
            member.do("open", str(directory))
            assert member.do("put", 1) == "stored"
        place.chmod(0o755)
        for path in [directory, empty, *directory.rglob("*")]:
            os.chown(path, USER, USER)
            path.chmod(0o500 if path.is_dir() else 0o400)
        mounts.run("chmod", "0755", place)
        for parent in place.parents:  # pytest keeps its folders private
            if parent.stat().st_uid == 0 and parent not in (Path("/"), Path("/tmp")):
                parent.chmod(parent.stat().st_mode | 0o055)
        with Member() as member:
            member.do("become", USER)
            member.do("open", str(directory))
            assert member.do("get", 1) == "right"
            assert member.do("put", 2) == "read-only"
            assert member.do("compile", 3) == [True, 1]
            assert member.do("lease", 4) == "leased"
            assert member.do("warnings") == []
            member.do("open", str(empty))
            assert member.do("get", 1) == "no directory"
            assert member.do("compile", 3) == [True, 1]
            assert len(member.do("warnings")) == 1
        assert list(empty.iterdir()) == []


@pytest.mark.control("nodegrade")
def test_process_without_descriptors_compiles(tmp_path: Path) -> None:
    """Nothing can be opened: every lookup misses, nothing is stored, and both say why."""
    directory = tmp_path / "cache"
    with Member() as member:
        member.do("open", str(directory))
        assert member.do("put", 1) == "stored"
        assert member.do("exhaust") > 10
        assert member.do("get", 1) == "too many open files"
        assert member.do("put", 2) == "too many open files"
        assert member.do("compile", 3) == [True, 1]
        assert member.do("lease", 4) == "leased"
        for name in ("trim", "verify", "stats", "flush"):
            member.do("task", name)
        member.do("open", str(directory))
        assert member.do("compile", 3) == [True, 1]
        member.do("relax")
        member.do("open", str(directory))
        assert member.do("get", 1) == "right"
        assert member.do("put", 2) == "stored"
    right_afterwards(directory)


@pytest.mark.control("nolimit", rows=["10000"])
@pytest.mark.parametrize("limit", [0, 100, 3000, 10_000, 64_000])
def test_limit_of_file_size_kills_nobody(limit: int, tmp_path: Path) -> None:
    """RLIMIT_FSIZE below an entry, the ledger, a place of the names: the kernel kills who writes beyond it."""
    directory = tmp_path / "cache"
    with Member(JITCACHE_LOG="debug", JITCACHE_LOG_FILE=str(tmp_path / "log")) as member:
        member.do("open", str(directory))
        assert member.do("put", 1) == "stored"
        member.do("task", "flush")
        member.do("limit", limit)
        assert member.do("get", 1) == "right"
        for n in range(2, 40):
            assert member.do("put", n, 2000) in ("stored", "no space")
        assert member.do("put", 50, 100_000) == "no space"
        assert member.do("compile", 51, 100_000) == [True, 1]
        assert member.do("compile", 52, 1000)[0]
        for name in ("flush", "trim", "verify", "clear", "close"):
            member.do("task", name)
        member.do("open", str(tmp_path / "new"))
        assert member.do("compile", 53, 1000)[0]
    right_afterwards(directory)
