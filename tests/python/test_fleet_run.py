"""Launched commands in a fleet: one run for all machines that ask at once, also if the one that holds the claim dies.

Each has a folder of its own that is called the same to the launcher. A run leaves bytes that nobody has left before, as
-flto does, so what lies in the folders says how often there was one. The variables are equal, for they count.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable

import pytest
from remotes import Machine, Redis
from test_remote import UNSIGNED, machine, redis
from test_remote_run import BUILT, late, same

__all__ = ["machine", "redis"]  # fixtures

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc"),
]

SCRIPT = "#!/bin/sh\n. ./settings\nsleep $SECONDS_TO_TAKE\ngcc -flto -c a.c -o a.o && exit $STATUS\n"


class Builder:
    """A machine, and the folder in which it builds."""

    def __init__(
        self, m: Machine, seconds: float = 1, status: int = 0, source: str = "int f(void) { return 1; }"
    ) -> None:
        self.machine, self.folder = m, m.folder / "project"
        self.folder.mkdir()
        (self.folder / "a.c").write_text(source + "\n")
        (self.folder / "settings").write_text(f"SECONDS_TO_TAKE={seconds}\nSTATUS={status}\n")
        script = self.folder / "make.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        self.process: subprocess.Popen[bytes] | None = None
        self.timeout = ""  # a variable of its helper's environment, and of no other

    def start(self) -> None:
        env = {**os.environ, **self.machine.env, "JITCACHE_BASE_DIR": str(self.folder), "PWD": str(self.folder)}
        self.process = subprocess.Popen(
            [BUILT, "run", "./make.sh", "a.c"], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, start_new_session=True
        )  # fmt: skip

    def ends(self, status: int = 0, seconds: float = 120) -> None:
        assert self.process is not None
        assert self.process.wait(timeout=seconds) == status

    def kill(self) -> None:
        """Kill the machine: helper, launcher and all processes that it has started."""
        assert self.process is not None
        own = [pid for pid in self.machine.helpers() if self.timeout in Path(f"/proc/{pid}/environ").read_text()]
        assert len(own) == 1
        os.kill(own[0], signal.SIGKILL)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def left(self) -> bytes:
        return (self.folder / "a.o").read_bytes()


@pytest.fixture
def build(machine: Callable[..., Machine], tmp_path: Path) -> Callable[..., Builder]:
    """Machines whose helpers have their sockets in one folder; a setting without effect tells them apart."""
    shared = machine("", **same(tmp_path))
    made: list[Builder] = []

    def make(url: str, **more: object) -> Builder:
        timeout = f"{11 + len(made)}s"
        m = machine(f"{url}{UNSIGNED}|timeout={timeout}", **same(tmp_path), XDG_RUNTIME_DIR=str(shared.run))
        m.run.rmdir()
        m.run = shared.run
        made.append(Builder(m, **more))  # type: ignore[arg-type]
        made[-1].timeout = timeout
        return made[-1]

    return make


def claimed(redis: Redis) -> None:
    """Wait until a machine has a claim."""
    end = time.monotonic() + 30
    while not redis.claims():
        assert time.monotonic() < end, "nobody has claimed anything"
        time.sleep(0.01)


@pytest.mark.control("noclaims", rows=["file"])
@pytest.mark.parametrize("engine", ["redis", "file"])
def test_fleet_runs_a_command_once(build: Callable[..., Builder], redis: Redis, tmp_path: Path, engine: str) -> None:
    (tmp_path / "shared").mkdir()
    url = redis.url if engine == "redis" else f"file://{tmp_path}/shared"
    for attempt in range(5):
        # A command that has run already is found, and not run.
        builders = [build(url, source=f"int f(void) {{ return {attempt}; }}") for _ in range(4)]
        for b in builders:
            b.start()
        for b in builders:
            b.ends()
        # A machine whose remote answers late runs it too, and says so.
        excused = sum(late(b.machine) for b in builders)
        assert len({b.left for b in builders}) <= 1 + excused
        if not excused:
            break
    else:
        raise AssertionError("the remote was late each time")
    # Nothing is left behind but entries, and pulses for a moment.
    end = time.monotonic() + 20
    while engine == "redis" and redis.claims():
        assert time.monotonic() < end, redis.claims()
        time.sleep(0.05)


def test_command_that_is_killed_gives_its_claim_up_at_once(build: Callable[..., Builder], redis: Redis) -> None:
    """The helper lives, and renews its pulse."""
    one, two = build(redis.url, seconds=60), build(redis.url, seconds=0)
    one.start()
    claimed(redis)
    assert one.process is not None
    os.killpg(one.process.pid, signal.SIGKILL)
    one.process.wait()
    # Nobody else asks for it, so the holder has given it up; the engine would keep it for an hour.
    end = time.monotonic() + 60
    while redis.claims():
        assert time.monotonic() < end, "the claim is still there"
        time.sleep(0.01)
    assert one.machine.helpers()
    two.start()
    two.ends()


def test_machine_with_another_source_does_not_wait(build: Callable[..., Builder], redis: Redis) -> None:
    """The words and the folder's name are the same; the content of a file that a word names is not."""
    one, two = build(redis.url, seconds=60), build(redis.url, seconds=0, source="int g(void) { return 2; }")
    one.start()
    claimed(redis)
    two.start()
    two.ends()
    assert one.process is not None and one.process.poll() is None
    one.kill()


def test_machine_whose_world_differs_otherwise_waits_and_runs_it(build: Callable[..., Builder], redis: Redis) -> None:
    """A file that no word names is known only after the run; then the other machine's result is not right here."""
    one, two = build(redis.url, seconds=2), build(redis.url, seconds=0)
    one.start()
    claimed(redis)
    two.start()
    time.sleep(1)
    assert two.process is not None and two.process.poll() is None
    one.ends()
    two.ends()
    assert one.left != two.left
