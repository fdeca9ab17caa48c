"""A directory as a remote, on a disk that behaves as a network's: what one machine has done, others see late.

FUSE stands for NFS: each machine has a mount of its own of the same folder, and its kernel
believes for seconds what it has seen of names, of absent ones too, and of attributes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
from processes import check
from remotes import Machine
from test_faults import STORES, heals
from test_fleet import ended, fleet
from test_remote import UNSIGNED, compiled, machine, program

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import build_library

__all__ = ["machine"]  # a fixture

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not os.access("/dev/fuse", os.R_OK | os.W_OK), reason="needs /dev/fuse"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="session")
def loopback() -> Path:
    """The program of tests/disks."""
    program = ROOT / "build" / "test" / "loopback-remotes"
    program.parent.mkdir(parents=True, exist_ok=True)
    p = subprocess.run(
        [build_library.find_go() or "go", "build", "-o", str(program), "."], cwd=ROOT / "tests" / "disks" / "loopback",
        env={**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if p.returncode != 0 and "dial tcp" in p.stderr:
        pytest.skip("go-fuse cannot be had here")
    assert p.returncode == 0, p.stderr
    return program


@contextlib.contextmanager
def mounts(loopback: Path, folder: Path, count: int, keep: str) -> Iterator[list[Path]]:
    """Show a folder at so many places, each with what its kernel has seen of it."""
    behind = folder / "behind"
    behind.mkdir()
    with contextlib.ExitStack() as stack:
        places = []
        for n in range(count):
            place = folder / f"mount{n}"
            place.mkdir()
            server = stack.enter_context(
                subprocess.Popen(
                    [str(loopback), "-keep", keep, "-log", str(folder / "faults"), str(behind), str(place)],
                    stdout=subprocess.PIPE, text=True,
                )
            )  # fmt: skip
            stack.callback(subprocess.run, ["umount", "-l", str(place)], check=False)
            assert server.stdout is not None
            assert server.stdout.readline() == "mounted\n"
            places.append(place)
        yield places


def test_what_is_seen_late_costs_compiles_and_never_a_wrong_byte(
    machine: Callable[..., Machine], loopback: Path, tmp_path: Path
) -> None:
    """Claims are as good as can be there: no machine compiles a key twice, and all end. The program compares each byte."""
    keys = [f"k{n}" for n in range(4)]
    with mounts(loopback, tmp_path, 4, "10s") as places:
        machines = [machine(f"file://{place}{UNSIGNED}") for place in places]
        began = time.monotonic()
        ended(fleet(machines, keys))
        took = time.monotonic() - began
        done = compiled(machines[0])
        print(f"figure {len(done)} compiles of {len(keys)} keys by {len(machines)} machines, {took:.1f} s")
        assert set(done) == set(keys)
        assert max(done.count(k) for k in keys) <= len(machines)
        assert took < 60
        for m in machines:
            m.sent()
        # Once it is no longer believed that there is nothing, another machine finds it all.
        late = machine(f"file://{places[0]}{UNSIGNED}")
        time.sleep(10)
        ended(fleet([late], keys))
        assert compiled(late) == done


@pytest.mark.control("hastybeats")
@pytest.mark.slow  # sixteen seconds, and on a loaded machine who waits may lose patience with its helper
def test_machine_that_lives_is_not_taken_for_dead_where_its_pulse_is_seen_late(
    machine: Callable[..., Machine], loopback: Path, tmp_path: Path
) -> None:
    """It compiles for longer than a pulse may stand still: who waits goes on waiting."""
    with mounts(loopback, tmp_path, 2, "5s") as places:
        one, two = (machine(f"file://{place}{UNSIGNED}") for place in places)
        for m in (one, two):  # a helper that takes a second to start is not waited for
            m.compile("before")
        (first,) = fleet([one], ["k"], COMPILE_SECONDS="15")
        end = time.monotonic() + 20
        while not list((tmp_path / "behind").rglob("*-claim")):
            assert time.monotonic() < end
            time.sleep(0.01)
        (second,) = fleet([two], ["k"], COMPILE_SECONDS="0.2")
        ended([first, second])
        assert compiled(one).count("k") == 1


def processes_with(word: str) -> list[int]:
    """The processes with a word in their command lines. Any may end meanwhile."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def test_disk_that_stops_answering_keeps_no_helper(
    machine: Callable[..., Machine], loopback: Path, tmp_path: Path
) -> None:
    """The helper says that it is down, programs go on without it, and all is well when the disk is."""
    with mounts(loopback, tmp_path, 1, "0s") as (place,):
        one, two = (machine(f"file://{place}{UNSIGNED}|timeout=1s") for _ in range(2))
        check(STORES, env=one.env)
        one.sent()
        two.compile("before")
        two.sent()
        (server,) = processes_with(str(place))
        os.kill(server, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert two.compile("a", "b") == "[0, 2]"
            print(f"figure disk that does not answer: {time.monotonic() - began:.1f} s for a process with two keys")
            end = time.monotonic() + 60
            while "down for" not in program("remote", "status", **two.env).stdout:
                assert time.monotonic() < end, "the helper waits for the disk"
        finally:
            os.kill(server, signal.SIGCONT)
        assert heals(two)
        two.sent(60)


@pytest.mark.parametrize("broken", ["unmounted", "read-only", "full"])
def test_directory_that_is_not_as_it_was_costs_a_compile(
    machine: Callable[..., Machine], tmp_path: Path, broken: str
) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(place)], check=True)
    try:
        one, two = (machine(f"file://{place}{UNSIGNED}") for _ in range(2))
        one.compile("a")
        one.sent()
        if broken == "unmounted":
            subprocess.run(["umount", "-l", str(place)], check=True)
            shutil.rmtree(place)
        elif broken == "read-only":
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        else:
            with contextlib.suppress(OSError), open(place / "ballast", "wb", buffering=0) as f:
                while True:
                    f.write(bytes(4096))
        began = time.monotonic()
        assert two.compile("a", "b") == ("[0, 2]" if broken == "unmounted" else "[1, 1]")
        print(f"figure {broken}: {time.monotonic() - began:.1f} s for a process with two keys")
        assert two.outboxes(), "what could not be sent waits"
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)
