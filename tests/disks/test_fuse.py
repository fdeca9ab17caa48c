"""A cache on a file system that behaves as network file systems do at their worst.

This simulates a network file system and is not one: a program (loopback/) shows
a local folder through FUSE, on one machine, and gives out their errors on
purpose. There is no second node, no client cache and no server that goes away.
"""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import mounts
import pytest
from member import Member

import build_library

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not os.access("/dev/fuse", os.R_OK | os.W_OK), reason="needs /dev/fuse"),
]

BUILD = Path(build_library.ROOT) / "build" / "test"


@pytest.fixture(scope="session")
def loopback() -> Path:
    """The program; built in a module of its own, so that the library's has no FUSE in it."""
    program = BUILD / "loopback"
    source = Path(__file__).resolve().parent / "loopback"
    command = [build_library.find_go() or "go", "build", "-o", str(program), "."]
    env = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    p = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, timeout=300, check=False)
    if p.returncode != 0 and "dial tcp" in p.stderr:
        pytest.skip("go-fuse cannot be had here")
    assert p.returncode == 0, p.stderr
    return program


class Shown:
    """A folder that is shown through FUSE."""

    def __init__(self, place: Path, log: Path, server: subprocess.Popen[str]) -> None:
        self.place, self.log, self.server = place, log, server

    def faults(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@contextlib.contextmanager
def shown(loopback: Path, tmp_path: Path, *flags: str) -> Iterator[Shown]:
    behind, place, log = tmp_path / "behind", tmp_path / "shown", tmp_path / "log"
    behind.mkdir(exist_ok=True, mode=0o700)
    place.mkdir(exist_ok=True)
    command = [str(loopback), "-log", str(log), *flags, str(behind), str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None and server.stdout.readline() == "mounted\n"
            yield Shown(place, log, server)
        finally:
            mounts.run("umount", "-l", place)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def two_processes(directory: Path, log: Path, env: dict[str, str]) -> tuple[int, list[str]]:
    """Have two processes compile, store and look up; right bytes always. Compiles, and outcomes of lookups."""
    keys = 6
    with Member(**env) as one, Member(**env) as two:
        for member in (one, two):
            member.do("open", str(directory))
        for n in range(keys):
            size = 3000 if n % 2 else 30_000
            for member in (one, two):
                member.begin("compile", n, size, str(log), 0.05)
            answers = [one.end(), two.end()]
            assert [right for right, _ in answers] == [True, True]
        got = []
        for n in range(keys):
            size = 3000 if n % 2 else 30_000
            for member in (one, two):
                member.do("put", n, size, replace=True)
                got.append(member.do("get", n, size))
                assert member.do("path", n, size) != "WRONG"
        for name in ("trim", "verify", "stats", "flush"):
            one.do("task", name)
        for member in (one, two):
            member.begin("stir", 0.5, 7)
        stirred = [one.end(), two.end()]
        assert not [o for s in stirred for o in s if "WRONG" in o], stirred
        for member in (one, two):
            locks = [w for w in member.do("warnings") if "lock files do not work" in w]
            assert len(locks) <= 1, locks
            assert len(member.do("warnings")) <= 3, member.do("warnings")
            member.do("task", "close")
            assert member.descriptors(directory) == []
    assert "WRONG" not in got
    return len(log.read_text().split()), got


#: Flags, and what lookups then say beside "right".
FAULTS: list[tuple[list[str], set[str]]] = [
    (["-lock", str(errno.ENOSYS)], set()),
    (["-lock", str(errno.ENOLCK)], set()),
    (["-stale", "5"], {"i/o error"}),
    (["-late", "40ms"], {"absent"}),
    (["-short", "1000"], set()),
    (["-rename", str(errno.EPERM)], {"absent"}),
    (["-rename", str(errno.EIO)], {"absent"}),
    (["-large", "8192"], {"no directory"}),  # the ledger cannot be written: no cache is made
    (["-large", "20000"], {"absent"}),
]


@pytest.mark.control("nowritecheck", rows=["local--large20000"])
@pytest.mark.control("short", rows=["local--short1000"])
@pytest.mark.parametrize(("flags", "misses"), FAULTS, ids=["".join(f) for f, _ in FAULTS])
@pytest.mark.parametrize("kind", ["local", pytest.param("network", marks=pytest.mark.soak)])
def test_no_error_reaches_the_caller(
    kind: str, flags: list[str], misses: set[str], loopback: Path, tmp_path: Path
) -> None:
    """Nothing raised, no hang, right bytes or a miss that says why, one warning about locks at most."""
    env = {"JITCACHE_FS": kind, "JITCACHE_LOCK_DIR": "", "XDG_RUNTIME_DIR": "", "TMPDIR": str(tmp_path)}
    with shown(loopback, tmp_path, *flags) as fuse:
        _, got = two_processes(fuse.place / "cache", tmp_path / "compiles", env)
        assert set(got) <= {"right"} | misses, got
        # Where locks are kept on the node, nobody asks for one here.
        assert fuse.faults() > 0 or (kind == "network" and flags[0] == "-lock"), "the planned fault never fired"
    # The same folder without faults: nothing torn, and it works.
    with Member() as member:
        member.do("open", str(tmp_path / "behind" / "cache"))
        assert member.do("task", "verify")["bad"] == []
        assert member.do("put", 100) == "stored" and member.do("get", 100) == "right"


@pytest.mark.control("nolease", rows=["local"])
@pytest.mark.parametrize("kind", ["local", "network"])
def test_without_faults_one_compiles(kind: str, loopback: Path, tmp_path: Path) -> None:
    """What the faults cost: here every compile is one, and every lookup right."""
    env = {"JITCACHE_FS": kind, "JITCACHE_LOCK_DIR": "", "XDG_RUNTIME_DIR": "", "TMPDIR": str(tmp_path)}
    with shown(loopback, tmp_path) as fuse:
        count, got = two_processes(fuse.place / "cache", tmp_path / "compiles", env)
        assert set(got) == {"right"} and fuse.faults() == 0
        assert count == 6


def test_server_that_dies_takes_nobody_along(loopback: Path, tmp_path: Path) -> None:
    """Every call on the mount then fails with ENOTCONN, in the middle of the work."""
    with Member() as member, shown(loopback, tmp_path) as fuse:
        member.do("open", str(fuse.place / "cache"))
        assert member.do("put", 1) == "stored"
        member.begin("stir", 1.0, 3)
        time.sleep(0.3)
        fuse.server.kill()
        assert not [o for o in member.end() if "WRONG" in o]
        assert member.do("get", 1) == "i/o error"
        assert member.do("put", 2) == "i/o error"
        assert member.do("compile", 3) == [True, 1]
        member.do("open", str(fuse.place / "cache"))
        assert member.do("compile", 4) == [True, 1]
        assert len(member.do("warnings")) <= 4, member.do("warnings")


def test_library_knows_nothing_of_fuse() -> None:
    """The program is a module of its own: neither required by the library's nor part of it."""
    top = Path(build_library.ROOT)
    assert "fuse" not in (top / "go.mod").read_text() + (top / "go.sum").read_text()
    assert (top / "tests" / "disks" / "loopback" / "go.mod").exists()
