"""What a process that was killed leaves in the temp directory goes when another one works there."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from processes import check, run, start

OLD = 120  # seconds; what is younger than a minute may just have been made


@pytest.fixture
def temp(tmp_path: Path) -> Path:
    """A temp directory for all users."""
    folder = tmp_path / "temp"
    folder.mkdir()
    folder.chmod(0o1777)
    for parent in tmp_path.parents[:3]:
        parent.chmod(parent.stat().st_mode | stat.S_IXOTH)
    tmp_path.chmod(0o755)
    return folder


def age(path: Path, seconds: float = OLD) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then), follow_symlinks=False)


def names(folder: Path, prefix: str) -> set[str]:
    return {name for name in os.listdir(folder) if name.startswith(prefix)}


# A forked child without /proc: its copy of the library needs a name.
COPIES = """
    import ctypes, os, sys, jitcache
    jitcache.Key(n=1).hex
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, new_user, private = 0x20000, 0x10000000, 0x44000
    while sys.argv[1] == "once" or sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            if libc.unshare(new_mounts) != 0 and libc.unshare(new_mounts | new_user) != 0:
                os._exit(77)
            libc.mount(b"none", b"/", None, private, None)
            if libc.mount(b"none", b"/proc", b"tmpfs", 0, None) != 0:
                os._exit(77)
            print(os.getpid(), flush=True)
            print(len(jitcache.Key(n=2).hex), jitcache.available(), flush=True)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        print("ended", flush=True)
        if sys.argv[1] == "once":
            sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.fixture
def unshared(tmp_path: Path) -> None:
    """Skip a test where /proc cannot be taken away."""
    if run(COPIES, "once", env={"TMPDIR": str(tmp_path)}).returncode == 77:
        pytest.skip("no namespace for mounts can be had")


def copy_once(temp: Path) -> None:
    out = check(COPIES, "once", env={"TMPDIR": str(temp)})
    assert out.splitlines()[1:] == ["64 (True, '')", "ended"], out


def killed_while_it_copies(temp: Path) -> str:
    """Kill a process while it makes its copy, as often as it takes, and return what it left."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    p = start(COPIES, "again", env={"TMPDIR": str(temp)}, **pipes)
    end = time.monotonic() + 60
    try:
        while time.monotonic() < end:
            p.stdin.write("next\n")
            p.stdin.flush()
            kill_when_there_is_a_copy(int(p.stdout.readline()), temp)
            while p.stdout.readline() != "ended\n":
                pass
            left = names(temp, "jitcache-copy-")
            if left:
                return left.pop()
    finally:
        p.communicate()
    raise AssertionError("no copy was left")


def kill_when_there_is_a_copy(pid: int, temp: Path) -> None:
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        if names(temp, "jitcache-copy-"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return


def test_copy_with_a_name_works_and_goes(unshared: None, temp: Path) -> None:
    copy_once(temp)
    assert os.listdir(temp) == []


@pytest.mark.control("JC_NO_SWEEP")
def test_copy_of_a_killed_process_is_swept(unshared: None, temp: Path) -> None:
    left = killed_while_it_copies(temp)
    copy_once(temp)
    assert os.listdir(temp) == [left]  # it may just have been made
    age(temp / left)
    copy_once(temp)
    assert os.listdir(temp) == []


@pytest.mark.control("JC_SWEEPS_ALL")
def test_what_is_no_leftover_of_ours_is_not_swept(unshared: None, temp: Path) -> None:
    """A file that is locked, one of another user, links, pipes, other names."""
    for name in ("jitcache-copy-locked", "jitcache-copy-others", "jitcache-copi", "jitcache-copy-swept", "target"):
        (temp / name).write_text("x")
    os.symlink(temp / "target", temp / "jitcache-copy-link")
    os.mkfifo(temp / "jitcache-copy-pipe")
    for path in temp.iterdir():
        age(path)
    if os.geteuid() == 0:
        os.chown(temp / "jitcache-copy-others", 65534, -1)
    else:
        (temp / "jitcache-copy-others").unlink()
    holder = subprocess.Popen(
        ["flock", str(temp / "jitcache-copy-locked"), "sh", "-c", "echo locked; read x"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"locked\n"
    before = set(os.listdir(temp))
    copy_once(temp)
    holder.communicate()
    assert set(os.listdir(temp)) == before - {"jitcache-copy-swept"}


# A compiler that kills who asks it, or lets him wait.
ASK = """
    import os, sys, jitcache
    from jitcache import native
    os.environ["HOST_OF_TEST"] = str(os.getpid())
    cache = jitcache.Cache(sys.argv[1])
    try:
        native.build("int f(void)\\n{ return 1; }\\n", compiler=sys.argv[2], cache=cache)
    except Exception as e:
        print(type(e).__name__)
"""


def compiler(folder: Path, what: str) -> Path:
    script = folder / f"cc-{len(os.listdir(folder))}"
    script.write_text(f"#!/bin/sh\n{what}\n")
    script.chmod(0o755)
    return script


@pytest.mark.control("notempsweep")
def test_folder_of_a_killed_process_is_swept(tmp_path: Path, temp: Path) -> None:
    env = {"TMPDIR": str(temp)}
    kills, refuses = compiler(tmp_path, "kill -9 $HOST_OF_TEST"), compiler(tmp_path, "exit 1")
    p = start(ASK, tmp_path / "cache", kills, env=env)
    assert p.wait(60) == -signal.SIGKILL
    (left,) = names(temp, "jitcache-run-")
    check(ASK, tmp_path / "cache", refuses, env=env)
    assert os.listdir(temp) == [left]
    age(temp / left)
    check(ASK, tmp_path / "cache", refuses, env=env)
    assert os.listdir(temp) == []


@pytest.mark.control("sweepliving")
def test_folder_of_a_living_process_stays(tmp_path: Path, temp: Path) -> None:
    env = {"TMPDIR": str(temp)}
    asked = tmp_path / "asked"
    waits, refuses = compiler(tmp_path, f": > {asked}; sleep 60"), compiler(tmp_path, "exit 1")
    p = start(ASK, tmp_path / "cache", waits, env=env)
    end = time.monotonic() + 30
    while not asked.exists() and time.monotonic() < end:
        time.sleep(0.01)
    (folder,) = temp.iterdir()
    age(folder)
    check(ASK, tmp_path / "cache", refuses, env=env)
    assert list(temp.iterdir()) == [folder]
    p.kill()
    p.wait()


# A path to an entry that is no ELF file is one to a copy in the temp directory.
PATHS = """
    import os, sys, time, jitcache
    cache = jitcache.Cache(sys.argv[1])
    with cache.entry_or_compile(jitcache.Key(n=1), lambda: b"no ELF") as entry:
        print(entry.path, flush=True)
        if sys.argv[2] == "dies":
            os.kill(os.getpid(), 9)
        if sys.argv[2] == "waits":
            sys.stdin.read()
            assert open(entry.path, "rb").read() == b"no ELF"
"""


def path_once(tmp_path: Path, temp: Path) -> None:
    path = Path(check(PATHS, tmp_path / "cache", "ends", env={"TMPDIR": str(temp)}).strip())
    assert path.parent == temp and not path.exists()


def path_of_a_killed_process(tmp_path: Path, temp: Path) -> Path:
    p = start(PATHS, tmp_path / "cache", "dies", env={"TMPDIR": str(temp)}, stdout=subprocess.PIPE)
    path = Path(p.communicate(timeout=60)[0].strip())
    assert p.returncode == -signal.SIGKILL and path.parent == temp and path.exists()
    return path


@pytest.mark.control("notempsweep")
def test_path_of_a_killed_process_is_swept(tmp_path: Path, temp: Path) -> None:
    path_of_a_killed_process(tmp_path, temp)
    path_once(tmp_path, temp)
    assert os.listdir(temp) == []


@pytest.mark.control("sweepliving")
def test_path_of_a_living_process_stays(tmp_path: Path, temp: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    p = start(PATHS, tmp_path / "cache", "waits", env={"TMPDIR": str(temp)}, **pipes)
    path = Path(p.stdout.readline().strip())
    path_once(tmp_path, temp)
    assert path.exists()
    p.communicate(timeout=60)
    assert p.returncode == 0 and os.listdir(temp) == []


@pytest.mark.control("sweepliving")
def test_path_that_is_not_certainly_a_leftover_stays(tmp_path: Path, temp: Path) -> None:
    """One of a process with the pid of a dead one, of another container or machine, of another user; links and pipes."""
    path = path_of_a_killed_process(tmp_path, temp)
    boot, space, pid, begun = path.name[len("jitcache-") : -len(".1.so")].split("-")
    mine = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    stays = {
        f"jitcache-{boot}-{space}-{os.getpid()}-{mine}.1.so", f"jitcache-{boot}-{int(space) + 1}-{pid}-{begun}.1.so",
        f"jitcache-{'0' * 8}-{space}-{pid}-{begun}.1.so", f"jitcache-{boot}-{space}-{pid}-{begun}.1.txt",
        f"jitcache-{pid}.so", f"jitcach-{boot}-{space}-{pid}-{begun}.2.so",
    }  # fmt: skip
    for name in stays:
        (temp / name).write_text("x")
    others = {f"jitcache-{boot}-{space}-{pid}-{begun}.{n}.so": n for n in (3, 4, 5)}
    link, pipe, other = others
    (temp / link).symlink_to(tmp_path / "target")
    os.mkfifo(temp / pipe)
    if os.geteuid() == 0:
        (temp / other).write_text("x")
        os.chown(temp / other, 65534, -1)
    reused = temp / f"jitcache-{boot}-{space}-{os.getpid()}-{int(mine) + 1}.1.so"
    reused.write_text("x")
    before = set(os.listdir(temp))
    path_once(tmp_path, temp)
    assert set(os.listdir(temp)) == before - {path.name, reused.name}
