"""`jitcache remote push`: what is here already goes to a remote that is new."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from test_remote import UNSIGNED

PROGRAM = Path(os.environ.get("JITCACHE_TEST_LAUNCHER", Path(__file__).resolve().parents[2] / "build/lib/jitcache"))


class Machine:
    """A directory, and a folder for settings."""

    def __init__(self, folder: Path) -> None:
        self.env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder.parent / "home"),
            "XDG_RUNTIME_DIR": str(folder.parent / "run"),  # one for both: a script may obey any variable
            "JITCACHE_DIR": str(folder / "cache"),
        }
        (folder.parent / "run").mkdir(mode=0o700, exist_ok=True)

    def jitcache(self, *words: Any, status: int = 0, **env: str) -> str:
        p = subprocess.run(
            [PROGRAM, *map(str, words)], env={**self.env, **env}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=100, check=False,
        )  # fmt: skip
        assert p.returncode == status, p.stdout + p.stderr
        return p.stdout + p.stderr


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Machine, Machine, dict[str, str]]:
    """One with a result, one without, and the setting of a remote that both know, but nothing is in."""
    (tmp_path / "shared").mkdir()
    one, two = Machine(tmp_path / "one"), Machine(tmp_path / "two")
    (tmp_path / "dice").write_text("#!/bin/sh\nod -A n -N 16 -t x1 /dev/urandom\n")
    (tmp_path / "dice").chmod(0o755)
    os.chdir(tmp_path)
    return one, two, {"JITCACHE_REMOTE": f"file://{tmp_path}/shared{UNSIGNED}"}


@pytest.fixture(autouse=True)
def folder_of_the_test() -> Any:
    before = Path.cwd()
    yield
    os.chdir(before)


def test_result_of_before_is_a_hit_on_another_machine(machines: Any) -> None:
    """With the list that says when it may be used; what only one machine can use stays there."""
    one, two, remote = machines
    made = one.jitcache("run", "./dice")
    assert two.jitcache("run", "./dice", JITCACHE="readonly", **remote) != made
    assert "sent 2 entries" in one.jitcache("remote", "push", **remote)
    assert two.jitcache("run", "./dice", **remote) == made


def test_words_choose_what_is_sent(machines: Any) -> None:
    one, two, remote = machines
    made = one.jitcache("run", "./dice")
    assert "there is no entry of that kind, name or key" in one.jitcache("remote", "push", "numba", status=1, **remote)
    one.jitcache("remote", "push", "run", **remote)
    assert two.jitcache("run", "./dice", **remote) == made


def test_what_nobody_has_signed_does_not_go_where_signatures_are_wanted(machines: Any, tmp_path: Path) -> None:
    one, two, remote = machines
    made = one.jitcache("run", "./dice")
    wants = {"JITCACHE_REMOTE": remote["JITCACHE_REMOTE"].replace(UNSIGNED, "")}
    assert "2 entries not sent: nobody has signed them" in one.jitcache("remote", "push", status=1, **wants)
    assert not [path for path in (tmp_path / "shared").rglob("*") if path.is_file()]
    public = one.jitcache("trust", "new", tmp_path / "secret").strip()
    one.jitcache("sign", "-key", tmp_path / "secret")
    one.jitcache("remote", "push", **wants)
    assert two.jitcache("run", "./dice", JITCACHE_KEYS=public, **wants) == made


def test_without_a_remote_that_is_written_the_answer_is_no(machines: Any) -> None:
    one, _, remote = machines
    one.jitcache("run", "./dice")
    assert "no remote is written to" in one.jitcache("remote", "push", status=1)
    read_only = {"JITCACHE_REMOTE": remote["JITCACHE_REMOTE"] + "|read-only"}
    assert "no remote is written to" in one.jitcache("remote", "push", status=1, **read_only)
