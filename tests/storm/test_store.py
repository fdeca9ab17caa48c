"""Processes that write, read, trim and clear one directory are killed at any moment."""

from __future__ import annotations

import ast
import os
import random
import time
from pathlib import Path
from typing import Any, NamedTuple

import reader
import roles
from conftest import Figures
from crowd import STUCK, Crowd, ask

CAST: list[roles.Role] = [*[roles.writer] * 4, *[roles.reader] * 3, roles.trimmer, roles.clearer]


class Toll(NamedTuple):
    """What a storm has cost."""

    kills: int
    temps: int  # files of the killed in tmp/, counted right after each kill
    complaints: str


def left_in_tmp(folder: Path, pid: int | None = None) -> list[str]:
    """Names in tmp/, those of one process if pid is given: docs/reader.md, "Temporary files"."""
    try:
        names = os.listdir(folder / "v1" / "tmp")
    except FileNotFoundError:
        return []
    return [n for n in names if pid is None or n.split(".")[0].split("-")[2:3] == [str(pid)]]


def writing(crowd: Crowd, folder: Path) -> int | None:
    """Return a process that has a temporary file right now."""
    for name in left_in_tmp(folder):
        pid = int(name.split("-")[2])
        if pid in crowd.living:
            return pid
    return None


def storm(
    folder: Path, cast: list[roles.Role], kills: int, temps: int, library: str | None = None, least: float = 0
) -> Toll:
    """Let the cast loose on a directory and kill its members until the toll is reached, for least seconds."""
    chance = random.Random(len(cast))
    done = left = 0
    cache = folder / "cache"
    with Crowd(folder, library) as crowd:
        playing = {crowd.start(role, crowd, cache): role for role in cast}
        time.sleep(1)  # let there be something
        began = time.monotonic()
        end = began + STUCK + kills / 2
        while (done < kills or left < temps or time.monotonic() < began + least) and time.monotonic() < end:
            time.sleep(chance.uniform(0, 0.1))
            # Every other time one that is in the middle of a put, if there is one.
            victim = writing(crowd, cache) if done % 2 else None
            victim = victim or chance.choice(sorted(playing))
            assert not crowd.ended(victim), crowd.complaints()
            crowd.kill(victim)
            done += 1
            left += len(left_in_tmp(cache, victim))
            role = playing.pop(victim)
            playing[crowd.start(role, crowd, cache)] = role
        for pid in list(playing):
            crowd.kill(pid)
    return Toll(done, left, crowd.complaints())


def on_disk(folder: Path) -> tuple[int, int]:
    """Count entries and their bytes."""
    sizes = [
        entry.stat().st_size
        for shard in os.scandir(folder / "v1" / "entries")
        for entry in os.scandir(shard.path)
        if entry.name.endswith(".jce")
    ]
    return len(sizes), sum(sizes)


def read_all(folder: Path) -> list[str]:
    """Return what the independent reader finds wrong with the entries."""
    numbers = ast.literal_eval(ask(folder.parent, lambda: {roles.key(n).hex: n for n in range(roles.KEYS)}))
    bad = []
    for key in reader.entry_keys(folder):
        try:
            if not roles.is_payload(numbers[key.hex()], reader.read_entry(folder, key).payload):
                bad.append(f"{key.hex()}: wrong bytes")
        except reader.Refused as refused:
            bad.append(f"{key.hex()}: {refused.reason}")
    return bad


def look(folder: Path) -> dict[str, Any]:
    """What the library says of the directory, before and after tidying up."""
    cache = roles.cache_of(folder)
    report = cache.verify()
    cache.trim()
    stats = cache.stats()
    cache.close()
    return {"bad": report["bad"], "entries": stats["entries"], "bytes": stats["bytes"]}


def age_locks(folder: Path) -> int:
    """Make the lock files of the killed as old as idle ones have to be to be swept."""
    locks = [path for path in (folder / "v1" / "locks").iterdir() if not path.name.startswith("ledger.")]
    for path in locks:
        os.utime(path, (time.time() - 2 * 86400,) * 2)
    return len(locks)


def test_killed_processes_leave_a_good_directory(tmp_path: Path, long: bool, figures: Figures) -> None:
    kills, temps, least = (500, 50, 120) if long else (80, 8, 0)
    folder = tmp_path / "cache"
    began = time.monotonic()
    toll = storm(tmp_path, CAST, kills, temps, least=least)
    assert toll.complaints == ""
    assert toll.kills >= kills
    assert toll.temps >= temps
    assert on_disk(folder)[0] > 10
    assert read_all(folder) == []
    locks = age_locks(folder)
    assert locks > 0
    said = ast.literal_eval(ask(tmp_path, lambda: look(folder)))
    assert said["bad"] == []
    entries, size = on_disk(folder)
    assert (said["entries"], said["bytes"]) == (entries, size)
    ledger = reader.read_ledger(folder)
    assert ledger is not None
    assert ledger.total() == (size, entries)
    assert size <= roles.CAP
    assert left_in_tmp(folder) == []
    assert os.listdir(folder / "v1" / "open") == []
    assert [n for n in os.listdir(folder / "v1" / "locks") if not n.startswith("ledger.")] == []
    figures.add("store-storm-kills", toll.kills, "processes")
    figures.add("store-storm-temps-left", toll.temps, "files")
    figures.add("store-storm-locks-left", locks, "files")
    figures.add("store-storm-took", time.monotonic() - began, "s")


def test_control_torn_entries_are_seen(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    storm(tmp_path, [roles.writer, *[roles.rogue_writer] * 4], 10, 0)
    bad = read_all(folder)
    assert bad
    said = ast.literal_eval(ask(tmp_path, lambda: look(folder)))
    assert len(said["bad"]) == len(bad)
    assert read_all(folder) == []


def test_control_without_checksums_readers_see_wrong_bytes(tmp_path: Path, without_checksums: str) -> None:
    cast: list[roles.Role] = [roles.writer, roles.reader, roles.reader, roles.rogue_flipper]
    assert "wrong bytes" in storm(tmp_path, cast, 8, 0, without_checksums).complaints


def test_control_with_checksums_damage_is_a_miss(tmp_path: Path) -> None:
    complaints = storm(tmp_path, [roles.writer, roles.reader, roles.rogue_flipper], 8, 0).complaints
    assert "missed: checksum" in complaints
    assert "wrong bytes" not in complaints


def test_control_what_nobody_told_the_ledger_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    storm(tmp_path, [roles.writer], 1, 0)
    ask(tmp_path, lambda: look(folder))
    next((folder / "v1" / "entries").glob("*/*.jce")).unlink()
    entries, size = on_disk(folder)
    ledger = reader.read_ledger(folder)
    assert ledger is not None
    assert ledger.total() != (size, entries)


def owner() -> str:
    """This process, as names of temporary files say it: docs/format.md, "Names of files"."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino}-{os.getpid()}-{start}"


def test_control_file_of_the_living_is_not_swept(tmp_path: Path) -> None:
    """What a sweep leaves is found in tmp/, and it does not just remove all."""
    folder = tmp_path / "cache"
    ask(tmp_path, lambda: look(folder))
    for name in (f"{owner()}.1", f"{owner()[:-1]}.1"):  # the second: one that had its pid before
        (folder / "v1" / "tmp" / name).touch()
    ask(tmp_path, lambda: look(folder))
    assert left_in_tmp(folder, os.getpid()) == [f"{owner()}.1"]
