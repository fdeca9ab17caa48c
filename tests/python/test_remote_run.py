"""Launched commands on many machines: one runs a command, the others replay it.

Each command leaves a random number, which -flto does: so equal bytes are a replay, and bytes that nobody has left
before are a compile.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

import pytest
from remotes import Machine, Redis
from test_remote import UNSIGNED, machine, program, redis

__all__ = ["machine", "redis"]  # fixtures

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc"),
]

ONE, TWO = "#define V 1\n", "#define V 2\n"
BUILT = os.environ.get("JITCACHE_TEST_LAUNCHER") or str(Path(__file__).resolve().parents[2] / "build/lib/jitcache")


def same(folder: Path) -> dict[str, str]:
    """The path of the settings may count, so all machines have them at the same path."""
    return {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}


def compiled(m: Machine, where: Path, *flags: str, **env: str) -> bytes:
    """Run a compile through the launcher; return the file that it makes."""
    (where / "a.c").write_text('#include "v.h"\nint f(int x) { return x + V; }\n')
    (where / "a.o").unlink(missing_ok=True)
    words = [BUILT, "run", "gcc", "-flto", "-Wall", "-c", "a.c", "-o", "a.o"]
    p = subprocess.run(
        [*words, *flags], cwd=where, env={**os.environ, **m.env, **env}, capture_output=True, text=True, check=True,
        stdin=subprocess.DEVNULL, timeout=100,
    )  # fmt: skip
    assert p.stderr == ""
    return (where / "a.o").read_bytes()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/v.h").write_text(ONE)
    return tmp_path / "project"


def sent(m: Machine) -> None:
    """Wait until nothing waits to be sent. A helper that started too late for a put is asked again."""
    end = time.monotonic() + 100
    while m.outboxes():
        assert time.monotonic() < end, f"{m.outboxes()} are not sent"
        program("remote", "flush", **m.env)


def late(m: Machine) -> bool:
    """Whether a remote was not asked because it had not answered in time, as on a busy machine."""
    reasons = json.loads(program("stats", "-json", **m.env).stdout)["total"]["miss_reasons"]
    return bool({"remote off", "remote budget spent"} & reasons.keys())


def replays(new: Callable[[], Machine], project: Path, *worlds: tuple[str, set[bytes]]) -> Machine:
    """Return a machine that has replayed, in each world, what other machines have made there.

    A run of its own is right only where the remote was late, and then it says so: another machine tries it again.
    """
    for _ in range(10):
        m = new()
        for header, left in worlds:
            (project / "v.h").write_text(header)
            if (own := compiled(m, project)) not in left:
                assert late(m), "it was run though the remote was asked"
                left.add(own)  # which is then sent
                break
        else:
            return m
    raise AssertionError("the remote was late for each of ten machines")


@pytest.mark.control("nolayers", rows=["file"])
@pytest.mark.parametrize("engine", ["redis", "file"])
def test_second_machine_replays_what_the_first_has_run(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, project: Path, engine: str
) -> None:
    """The record of what the compiler looked at is sent, and its result."""
    (tmp_path / "shared").mkdir()
    url = (redis.url if engine == "redis" else f"file://{tmp_path}/shared") + UNSIGNED

    def new() -> Machine:
        return machine(url, **same(tmp_path))

    one = new()
    left = {compiled(one, project)}
    sent(one)
    two = replays(new, project, (ONE, left))
    assert two.outboxes() == [], "what was fetched is not sent again"
    assert compiled(two, project) in left
    # With another header there is another world; both are replayed.
    (project / "v.h").write_text(TWO)
    others = {compiled(two, project)}
    assert not others & left
    sent(two)
    three = replays(new, project, (TWO, others), (ONE, left))
    redis.stop()
    for header, known in ((ONE, left), (TWO, others)):
        (project / "v.h").write_text(header)
        assert compiled(three, project) in known, "its own directory has it"


def test_remote_that_is_late_is_told_from_one_that_was_not_asked(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, project: Path
) -> None:
    """The excuse for a run above must not excuse every run."""
    asked, without, slow = (machine(url, **same(tmp_path)) for url in (redis.url + UNSIGNED, "", redis.url + UNSIGNED))
    for m in (asked, without):
        compiled(m, project)
        assert not late(m)
    os.kill(redis.process.pid, signal.SIGSTOP)
    try:
        compiled(slow, project)
    finally:
        os.kill(redis.process.pid, signal.SIGCONT)
    assert late(slow)


def test_launcher_does_not_ask_a_remote_for_what_the_directory_has(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, project: Path
) -> None:
    one = machine(redis.url + UNSIGNED, **same(tmp_path))
    first = compiled(one, project)
    sent(one)
    one.end()
    redis.stop()
    one.run.mkdir(mode=0o700)
    assert compiled(one, project) == first
    assert one.helpers() == []


def test_what_a_stranger_has_run_is_not_replayed(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, project: Path
) -> None:
    """Neither what is not signed, nor what an untrusted key has signed."""
    one, two = machine(redis.url + UNSIGNED, **same(tmp_path)), machine(redis.url, **same(tmp_path))
    first = compiled(one, project)
    sent(one)
    assert compiled(two, project) != first
    reader = machine(redis.url, **same(tmp_path), JITCACHE_KEYS="ed25519:" + "A" * 43)
    assert compiled(reader, project) != first


def test_result_of_another_machine_is_not_put_where_no_word_points(
    machine: Callable[..., Machine], redis: Redis, tmp_path: Path, project: Path
) -> None:
    """What the machine itself has made is still sent there."""
    one, two = (machine(redis.url + UNSIGNED, **same(tmp_path)) for _ in range(2))
    script = project / "make.sh"
    script.write_text("#!/bin/sh\ngcc -flto -c a.c -o .hidden\n")
    script.chmod(0o755)
    (project / "a.c").write_text("int f(void) { return 1; }\n")

    def hidden(m: Machine) -> bytes:
        (project / ".hidden").unlink(missing_ok=True)
        subprocess.run(
            [BUILT, "run", "./make.sh"], cwd=project, env={**os.environ, **m.env}, check=True, timeout=100,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return (project / ".hidden").read_bytes()

    first = hidden(one)
    sent(one)
    assert hidden(one) == first
    assert hidden(two) != first
    assert program("remote", "-json", "status", **two.env).returncode == 0
