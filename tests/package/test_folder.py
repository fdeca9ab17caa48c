"""Builds into one folder at once, while what lies there is in use: tests and users rebuild as they like."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import build_folder
import build_library

ROOT = Path(build_library.__file__).parent
REAL = build_library.choose_go()
BUILT = ROOT / "build" / "lib"

# Compilers that take what build/lib has. A file is written in two pieces, with time in between; and who has made
# the library waits a while for another build to come as far.
SLOWLY = """put() {{ head -c 10000 "$1" >"$2"; chmod +x "$2"; sleep 0.2; tail -c +10001 "$1" >>"$2"; }}
out() {{ while [ "$1" != -o ]; do shift; done; out=$2; name=${{out##*/}}; }}
"""
GO = """#!/bin/bash
[ "$1" = env ] && exec {go} "$@"
{slowly}
out "$@"
put {built}/$name "$out"
[ $name != libjitcache.so ] && exit
echo "$out" >"${{out%.so}}.h"
touch {meeting}/$PPID
for i in $(seq 15); do [ $(ls {meeting} | wc -l) = 2 ] && exit; sleep 0.1; done
"""
CC = """#!/bin/bash
[ "$1" = -E ] && exec {cc} "$@"
{slowly}
out "$@"
put {built}/$name "$out"
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment with such compilers."""
    (tmp_path / "meeting").mkdir()
    cc = " ".join(build_library.find_cc() or ["cc"])
    words = {"go": REAL.command, "cc": cc, "built": BUILT, "meeting": tmp_path / "meeting", "slowly": SLOWLY.format()}
    for name, text in (("go", GO), ("cc", CC)):
        (tmp_path / name).write_text(text.format(**words))
        (tmp_path / name).chmod(0o755)
    return {**os.environ, "GO": str(tmp_path / "go"), "CC": str(tmp_path / "cc")}


DIRECTLY = """
import contextlib, sys
import build_folder, build_library
@contextlib.contextmanager
def draft(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / build_library.SONAME).unlink(missing_ok=True)
    yield folder
build_folder.draft = draft
sys.exit(build_library.main())
"""


def two_builds(env: dict[str, str], output: Path, how: list[str]) -> list[subprocess.CompletedProcess[str]]:
    command = [sys.executable, *how, "--output", str(output)]
    done: list[subprocess.CompletedProcess[str]] = []

    def build() -> None:
        done.append(subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False))

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def parts_seen(output: Path, over: threading.Event) -> set[str]:
    """What of a folder was gone, or not as it is in build/lib, at any time until it is over."""
    whole = {path.name: path.read_bytes() for path in BUILT.iterdir() if path.is_file() and path.name[0] != "."}
    seen = set()
    while not over.is_set():
        for name, content in whole.items():
            try:
                if (output / name).read_bytes() != content:
                    seen.add(name)
            except FileNotFoundError:
                seen.add(name)
        time.sleep(0.01)
    return seen


def rebuilt_in_use(env: dict[str, str], output: Path, how: list[str]) -> tuple[list[str], set[str]]:
    """Build twice at once where a build lies that is read; return what the builds had to complain of, and parts."""
    output.mkdir()
    for path in BUILT.iterdir():
        if path.name[0] != ".":
            (output / path.name).write_bytes(path.read_bytes())
    over, parts = threading.Event(), set()
    reader = threading.Thread(target=lambda: parts.update(parts_seen(output, over)))
    reader.start()
    done = two_builds(env, output, how)
    over.set()
    reader.join()
    return [p.stdout + p.stderr for p in done if p.returncode != 0], parts


def test_two_builds_into_a_folder_that_is_in_use(env: dict[str, str], tmp_path: Path) -> None:
    assert rebuilt_in_use(env, tmp_path / "out", [str(ROOT / "build_library.py")]) == ([], set())
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {path.name for path in BUILT.iterdir()} | {build_folder.LOCK}


def test_without_drafts_a_build_breaks_the_other_and_who_reads(env: dict[str, str], tmp_path: Path) -> None:
    wrong, parts = rebuilt_in_use(env, tmp_path / "out", ["-c", DIRECTLY])
    assert wrong
    assert "libjitcache.so" in parts


def test_build_waits_for_another_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(build_folder.build_steps, "step", lambda what: told.append(what) or threading.Lock())
    order: list[str] = []

    def other() -> None:
        with build_folder.draft(tmp_path):
            order.append("other")

    with build_folder.draft(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        while not told:
            time.sleep(0.01)
        order.append("first")
    thread.join()
    assert (order, told) == (["first", "other"], [f"waiting for another build into {tmp_path}"])


def test_failed_build_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def build(*, fails: bool) -> None:
        with build_folder.draft(tmp_path) as draft:
            (draft / "a").write_text("new")
            if fails:
                raise ValueError

    with pytest.raises(ValueError):
        build(fails=True)
    assert (tmp_path / "a").read_text() == "old"
    build(fails=False)
    assert (tmp_path / "a").read_text() == "new"
    assert sorted(p.name for p in tmp_path.iterdir()) == [build_folder.LOCK, "a"]


def test_draft_of_a_killed_build_goes_with_the_next(tmp_path: Path) -> None:
    program = (
        f"import build_folder, os, pathlib\nwith build_folder.draft(pathlib.Path({str(tmp_path)!r})):\n    os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert len(list(tmp_path.glob(f"{build_folder.DRAFT}*"))) == 1
    with build_folder.draft(tmp_path):
        pass
    assert [p.name for p in tmp_path.iterdir()] == [build_folder.LOCK]


def test_folder_without_locks_is_built_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr(build_folder.fcntl, "flock", refuse)
    with build_folder.draft(tmp_path) as one, build_folder.draft(tmp_path) as two:
        (one / "a").write_text("a")
        (two / "b").write_text("b")
    assert {p.name for p in tmp_path.iterdir()} == {build_folder.LOCK, "a", "b"}


def test_link_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a").write_text("a")
    for before in (None, "file", "another link", "the same"):
        link = tmp_path / "package" / "a"
        link.parent.mkdir(exist_ok=True)
        if before != "the same":
            link.unlink(missing_ok=True)
        if before == "file":
            link.write_text("old")
        elif before == "another link":
            link.symlink_to("nowhere")
        build_folder.link(link, tmp_path / "lib" / "a")
        assert os.readlink(link) == "../lib/a", before
        assert [p.name for p in link.parent.iterdir()] == ["a"]


def test_file_that_is_written_is_not_touched_if_it_is_right(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a"
    build_folder.write(path, "text")
    first = path.stat()
    build_folder.write(path, "text")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    build_folder.write(path, "another")
    assert path.read_text() == "another"
    assert path.stat().st_ino != first.st_ino
