"""Many at once, and processes that are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import conftest
import pytest


def of_folder(folder: Path) -> list[str]:
    """Processes that work in a folder or below."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(folder)):
                found.append((entry / "cmdline").read_text())
        except OSError:
            pass
    return found


@pytest.mark.control("nolease")
def test_sixteen_at_once_run_it_once(place: Any) -> None:
    script = place.tool("slow", "#!/bin/sh\nsleep 1; random\n")
    started = [place.start(script) for _ in range(16)]
    said = {p.communicate(timeout=120)[0] for p in started}
    assert [p.returncode for p in started] == [0] * 16
    assert len(said) == 1
    assert said != {b""}


@pytest.mark.control("noremovals")
def test_output_that_somebody_else_removes_is_not_left_out(place: Any) -> None:
    """What is gone when the command ends is no part of what it leaves; a replay would leave less."""
    script = place.tool("slow", "#!/bin/sh\necho 1 > out\nsleep 1\n")
    out = place.folder / "out"
    with place.start(script) as p:
        while not out.exists() or not out.read_bytes():
            time.sleep(0.01)
        out.unlink()
        p.communicate(timeout=60)
    for _ in range(2):
        assert place.run(script).returncode == 0
        assert out.read_bytes() == b"1\n"
        out.unlink()


def test_sixteen_compiles_of_one_object(place: Any, gcc: str) -> None:
    """The same output, at once: whole whenever one of them has ended."""
    place.write(a_cpp="#include <map>\nint f() { std::map<int, int> m; return m.size(); }\n")
    command = ["g++", "-flto", "-c", "a.cpp", "-o", "a.o"]
    started = [place.start(*command) for _ in range(16)]
    for p in started:
        p.communicate(timeout=120)
        assert p.returncode == 0
        assert place.plain("readelf", "-h", "a.o").returncode == 0
    kept = place.read("a.o")
    (place.folder / "a.o").unlink()
    place.run(*command)
    assert place.read("a.o") == kept


#: Looks at a file as fast as it can until it is told to end, and says how often the file was not there.
_WATCH = """
import os, select, sys
missing = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(1000):
        try:
            os.stat("a")
        except FileNotFoundError:
            missing += 1
print(missing)
"""


@pytest.mark.control("noexchange")
def test_output_is_there_at_any_time_while_replays_replace_it(place: Any) -> None:
    # Not by mv, which looks whether something stands there.
    rename = "import os; open('new', 'w').write(os.urandom(8).hex()); os.rename('new', 'a')"
    command = (sys.executable, "-I", "-S", "-c", rename)
    place.run(*command)
    watch = subprocess.Popen(
        [sys.executable, "-c", _WATCH], cwd=place.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    for _ in range(200):
        assert place.run(*command).returncode == 0
    assert len({place.run(*command) and place.read("a") for _ in range(2)}) == 1
    missing, _ = watch.communicate("\n", timeout=60)
    assert missing == "0\n"


def test_waiters_take_over_when_the_first_is_killed(place: Any) -> None:
    script = place.tool("slow", "#!/bin/sh\necho started >&2; sleep 1.5; random\n")
    first = place.start(script, stderr=subprocess.PIPE)
    assert first.stderr.readline() == b"started\n"
    others = [place.start(script) for _ in range(4)]
    time.sleep(0.2)
    first.kill()
    said = {p.communicate(timeout=60)[0] for p in others}
    assert len(said) == 1
    assert said != {b""}
    first.communicate()


def test_waiters_do_not_wait_for_what_is_not_kept(place: Any) -> None:
    """A command that reads its input is known to be in vain when it does: the others start then."""
    script = place.tool("reads", "#!/bin/sh\nread -r line; sleep 1; echo $line\n")
    place.write(in_txt="x\n")
    line = f"for i in 1 2 3 4 5 6 7 8; do {conftest.PROGRAM} run {script} <in.txt & done; wait"
    began = time.monotonic()
    assert place.plain("/bin/sh", "-c", line).stdout == b"x\n" * 8
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_moment(place: Any, seed: int) -> None:
    """Nothing runs on, nothing wrong is kept, and the next one works."""
    dice = random.Random(seed)
    script = place.tool("work", "#!/bin/sh\nsleep 0.05; random one; sleep 0.05; cat one > two; sleep 0.05\n")
    for _ in range(6):
        p = place.start(script)
        time.sleep(dice.uniform(0, 0.4))
        p.send_signal(dice.choice([signal.SIGKILL, signal.SIGTERM]))
        p.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while of_folder(place.folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert of_folder(place.folder) == []
    for name in ("one", "two"):
        (place.folder / name).unlink(missing_ok=True)
    said = [place.run(script) for _ in range(2)]
    assert [p.returncode for p in said] == [0, 0]
    assert place.read("one") == place.read("two") == said[1].stdout
    assert place.leftovers() == []
    assert place.plain(conftest.PROGRAM, "verify").returncode == 0


def test_host_that_waits_for_all_its_children(place: Any) -> None:
    """The launcher leaves no child to its parent, nor a process that holds its pipe."""
    program = "import os, subprocess, sys\np = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)\nfound = []\ntry:\n    while True: found.append(os.waitpid(-1, 0)[0])\nexcept ChildProcessError: pass\nprint(len(found), found == [p.pid])\n"
    for _ in range(2):
        p = place.plain(
            "/usr/bin/env",
            "python3",
            "-c",
            program,
            conftest.PROGRAM,
            "run",
            "random",
            "out",
            env={"PATH": f"{place.env['PATH']}:{os.environ['PATH']}"},
        )
        assert p.stdout == b"1 True\n"
