"""A wheel is the same, byte for byte, wherever and whenever it is built; and what makes it so is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import ROOT, copy_to, run

import build_library


def wheel(source: Path, output: Path, **env: str) -> Path:
    """Build a wheel of a source tree, in an environment that says more."""
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", output, source, **env)
    (made,) = output.glob("*.whl")
    return made


def aged(tree: Path, seconds: float) -> Path:
    """Give each file of a tree another time."""
    for path in tree.rglob("*"):
        os.utime(path, (time.time() - seconds,) * 2, follow_symlinks=False)
    return tree


PREBUILT = {"JITCACHE_PREBUILT": str(ROOT / "build" / "lib" / "libjitcache.so")}


def two(tmp_path: Path) -> list[Path]:
    """Two copies of this checkout, in folders of other names and with other times."""
    return [copy_to(tmp_path / "a"), aged(copy_to(tmp_path / "b" / "longer"), 1e6)]


def test_what_is_not_compiled_is_the_same(tmp_path: Path) -> None:
    first, second = (wheel(tree, tmp_path / f"out{i}", **PREBUILT) for i, tree in enumerate(two(tmp_path)))
    assert first.read_bytes() == second.read_bytes()


def test_times_of_files_would_be_noticed(tmp_path: Path) -> None:
    made = []
    for i, tree in enumerate(two(tmp_path)):
        project = tree / "pyproject.toml"
        begins = "[tool.hatch.build.targets.wheel]\n"
        project.write_text(project.read_text().replace(begins, begins + "reproducible = false\n"))
        made.append(wheel(tree, tmp_path / f"out{i}", **PREBUILT).read_bytes())
    assert made[0] != made[1]


def commands(tmp_path: Path, **env: str) -> list[bytes]:
    """The command, as two copies of this checkout build it."""
    code = "import build_library, pathlib; build_library.build_command(pathlib.Path('out'))"
    made = []
    for tree in two(tmp_path):
        (tree / "out").mkdir()
        run(sys.executable, "-c", code, cwd=tree, **env)
        made.append((tree / "out" / build_library.COMMAND).read_bytes())
    return made


def test_command_is_the_same(tmp_path: Path) -> None:
    first, second = commands(tmp_path)
    assert first == second
    assert str(tmp_path).encode() not in first


@pytest.mark.rest
def test_paths_that_are_not_trimmed_would_be_noticed(tmp_path: Path) -> None:
    go = tmp_path / "go"
    dropped = 'for a; do shift; [ "$a" = -trimpath ] || set -- "$@" "$a"; done'
    go.write_text(f'#!/bin/sh\n{dropped}\nexec {build_library.choose_go().command} "$@"\n')
    go.chmod(0o755)
    first, second = commands(tmp_path, GO=str(go))
    assert first != second
    assert str(tmp_path).encode() in first


@pytest.mark.rest
def test_wheel_is_the_same_from_empty_caches_in_another_folder(tmp_path: Path) -> None:
    """The second build compiles all of it, with its own caches, another umask and flags for newer processors."""
    first = wheel(ROOT, tmp_path / "out", JITCACHE_PORTABLE="1")
    tree = aged(copy_to(tmp_path / "another" / "folder"), 1e6)
    caches = {name: str(tmp_path / name) for name in ("GOCACHE", "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    env = {
        **os.environ,
        **caches,
        "JITCACHE_PORTABLE": "1",
        "GOAMD64": "v3",
        "GOFLAGS": "-ldflags=-w",
        "TZ": "Asia/Tokyo",
    }
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "again"), str(tree)]
    p = subprocess.run(build, env=env, umask=0o077, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    (second,) = (tmp_path / "again").glob("*.whl")
    assert first.read_bytes() == second.read_bytes()
