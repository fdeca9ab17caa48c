"""Where a build can be: in ranks, under a debugger, in a container that forbids things, beside others, killed."""

from __future__ import annotations

import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, ROOT, CountedCompiler, in_process, need

TEXT = "int f(int x) { return 3 * x; }\n"
UNSEEN = "could not be observed"


def words(cache: Path, **asked: Any) -> list[str]:
    """The command of a process that builds."""
    return [sys.executable, "-c", PROGRAM, str(ROOT / "python"), json.dumps(asked), str(cache)]


def said(out: str) -> list[dict[str, Any]]:
    """What processes have printed of their builds."""
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def done(command: list[str], **more: Any) -> list[dict[str, Any]]:
    p = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, **more)
    assert p.returncode == 0, p.stderr + p.stdout
    return said(p.stdout)


def running(mark: str) -> list[str]:
    """The processes with a mark in their words."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            command = Path("/proc", pid, "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in command:
            found.append(command.replace(b"\0", b" ").decode()[:200])
    return found


def left(mark: str) -> list[str]:
    """Those that still run in five seconds: a process that is killed is there until it is given a processor."""
    for _ in range(500):
        if not running(mark):
            break
        time.sleep(0.01)
    return running(mark)


@pytest.mark.control("nolease")
def test_sixteen_at_once_make_one_compile(tmp_path: Path, counted: CountedCompiler) -> None:
    asked: Any = {"sources": {"f.c": TEXT}, "compiler": str(counted.path)}
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: in_process(tmp_path / "cache", **asked), range(16)))
    assert len({f["bytes"] for f in found}) == 1
    assert sum(not f["hit"] for f in found) == counted.compiles() == 1


def test_recipes_of_a_parallel_make_compile_once_and_hit_afterwards(tmp_path: Path, counted: CountedCompiler) -> None:
    make = need("make")
    lines = ["all: " + " ".join(f"t{i}" for i in range(8)), ""]
    for i in range(8):
        command = words(tmp_path / "cache", sources={"f.c": TEXT + f"int g{i % 4};\n"}, compiler=str(counted.path))
        (tmp_path / f"t{i}.sh").write_text(f"exec {shlex.join(command)} > {tmp_path}/said{i}\n")
        lines += [f"t{i}:", f"\t@+sh {tmp_path}/t{i}.sh", ""]
    (tmp_path / "Makefile").write_text("\n".join(lines))

    def made(jobs: str) -> list[dict[str, Any]]:
        done([make, "-s", jobs, "-f", str(tmp_path / "Makefile")])
        return [said((tmp_path / f"said{i}").read_text())[0] for i in range(8)]

    assert [f["refused"] for f in made("-j4")] == [""] * 8
    compiles = counted.compiles()
    assert 3 <= compiles <= 4  # there are four sources; the kernel has told of two at once only once
    # With another number of jobs, and from another make.
    assert all(f["hit"] for f in made("-j2"))
    assert counted.compiles() == compiles


def test_ranks_compile_once_and_so_does_the_next_job(tmp_path: Path, counted: CountedCompiler) -> None:
    mpirun = need("mpirun")
    job = [mpirun, "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader"]
    command = words(tmp_path / "cache", sources={"f.c": TEXT}, compiler=str(counted.path))
    # What ranks print may mix.
    rank = [
        "sh",
        "-c",
        f'exec "$@" > {tmp_path}/$OMPI_COMM_WORLD_SIZE-$OMPI_COMM_WORLD_RANK',
        "sh",
        *command,
    ]

    def ranks(n: int) -> list[dict[str, Any]]:
        done([*job, "-n", str(n), *rank])
        return [said((tmp_path / f"{n}-{i}").read_text())[0] for i in range(n)]

    first = ranks(4)
    assert sorted(f["hit"] for f in first) == [False, True, True, True]
    assert {f["refused"] for f in first} == {""}
    second = ranks(3)
    assert [f["hit"] for f in second] == [True] * 3, second[0]["missed"]
    assert counted.compiles() == 1


@pytest.mark.parametrize("tracer", ["strace", "refusal"])
def test_where_nothing_can_be_observed_it_compiles_and_keeps_nothing(
    tmp_path: Path, counted: CountedCompiler, tracer: str
) -> None:
    """Under strace the tree has its tracer; in some containers ptrace is forbidden."""
    if tracer == "strace":
        before = [need("strace"), "-f", "-qq", "-o", "/dev/null"]
    else:
        source = ROOT / "tests" / "observe" / "c" / "refuse.c"
        subprocess.run([need("gcc"), source, "-o", tmp_path / "refuse"], check=True)
        before = [str(tmp_path / "refuse"), "ptrace", "--"]
    command = words(tmp_path / "cache", sources={"f.c": TEXT}, compiler=str(counted.path))
    made = []
    for n in (1, 2):
        found = done([*before, *command])[0]
        assert (found["hit"], UNSEEN in found["refused"]) == (False, True)
        made.append(found["bytes"])
        assert counted.compiles() == n
    # Where it can be, it is kept; and is found where it cannot.
    assert [done(command)[0]["hit"] for _ in range(2)] == [False, True]
    found = done([*before, *command])[0]
    assert found["hit"]
    assert {*made, found["bytes"]} == {found["bytes"]}


@pytest.mark.control("noroom")
def test_where_files_may_not_be_large_it_compiles_and_keeps_nothing(tmp_path: Path) -> None:
    """What the observer tells of a compile is larger than an object, and who writes beyond ulimit -f is killed."""
    command = words(tmp_path / "cache", sources={"f.c": TEXT}, compiler=need("gcc"), kind="object")
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    found = done(command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (6000, most)))[0]
    assert (found["hit"], UNSEEN in found["refused"]) == (False, True)
    assert done(command)[0]["bytes"] == found["bytes"]


def test_host_under_a_debugger_is_a_host_like_another(tmp_path: Path, counted: CountedCompiler) -> None:
    # What it says of threads and children would stand in the middle of the host's lines.
    quiet = ["-ex", "set print thread-events off", "-ex", "set print inferior-events off"]
    gdb = [need("gdb"), "-q", "-batch", "-nx", *quiet, "-ex", "handle all nostop noprint pass", "-ex", "run", "--args"]
    command = words(tmp_path / "cache", sources={"f.c": TEXT}, compiler=str(counted.path))
    found = done([*gdb, *command])[0]
    assert (found["hit"], found["refused"]) == (False, "")
    assert done(command)[0]["hit"]
    assert counted.compiles() == 1


def test_build_within_a_build(tmp_path: Path) -> None:
    """A wrapper that builds something itself: the inner one cannot be observed, and leaves its cache alone."""
    inner = words(tmp_path / "inner", sources={"g.c": "int g(void) { return 4; }\n"}, kind="object")
    (tmp_path / "inner.sh").write_text(f"exec {shlex.join(inner)}\n")
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nsh {tmp_path}/inner.sh > {tmp_path}/said || exit 9\nexec {need("gcc")} "$@"\n')
    wrapper.chmod(0o755)
    for _ in range(2):
        found = in_process(tmp_path / "cache", sources={"f.c": TEXT}, compiler=str(wrapper))
        (within,) = said((tmp_path / "said").read_text())
        assert (within["hit"], UNSEEN in within["refused"]) == (False, True)
        assert (found["hit"], bool(found["refused"])) == (False, True)
        assert bytes.fromhex(found["bytes"])[:4] == b"\x7fELF"


def test_program_that_needs_privileges_has_them_and_is_not_kept(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("not root")
    source = tmp_path / "who.c"
    source.write_text(
        '#include <stdio.h>\n#include <unistd.h>\nint main(void) { return !printf("%d", (int)geteuid()); }\n'
    )
    subprocess.run([need("gcc"), source, "-o", tmp_path / "who"], check=True)
    (tmp_path / "who").chmod(0o4755)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nexec {need("gcc")} -DW=$({tmp_path}/who) "$@"\n')
    wrapper.chmod(0o755)
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 65534, 65534)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o055 != 0o055:
            folder.chmod(folder.stat().st_mode | 0o055)
    command = words(
        tmp_path / "theirs" / "cache",
        sources={"f.c": "#if W != 0\n#error without privileges\n#endif\n" + TEXT},
        compiler=str(wrapper),
    )
    user = [need("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*user, sys.executable, "-c", ""], check=False).returncode != 0:
        pytest.skip("another user cannot run this Python")
    for _ in range(2):
        found = done(
            [*user, *command], env={**os.environ, "TMPDIR": str(tmp_path / "theirs"), "HOME": str(tmp_path / "theirs")}
        )[0]
        assert (found["hit"], bool(found["refused"])) == (False, True)


def test_daemon_lives_on_and_nobody_waits_for_it(tmp_path: Path) -> None:
    wrapper = tmp_path / "wrapper"
    length = f"{random.randrange(10**5, 10**6)}.25"
    wrapper.write_text(f'#!/bin/sh\n(setsid sleep {length} >/dev/null 2>&1 &)\nexec {need("gcc")} "$@"\n')
    wrapper.chmod(0o755)
    try:
        start = time.monotonic()
        found = in_process(tmp_path / "cache", sources={"f.c": TEXT}, compiler=str(wrapper))
        assert time.monotonic() - start < 30
        assert not found["hit"]
        assert "left a process running" in found["refused"]
        assert len(running(f"sleep\0{length}")) == 1
    finally:
        for pid in os.listdir("/proc"):
            try:
                if f"sleep\0{length}".encode() in Path("/proc", pid, "cmdline").read_bytes():
                    os.kill(int(pid), signal.SIGKILL)
            except (OSError, ValueError):
                continue


WAITS = """
import json, os, sys, threading, time
sys.path.insert(0, sys.argv[1])
import jitcache
from jitcache import native
own = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "0.2")
seen, over = [], threading.Event()
def wait():
    while not over.is_set():
        try:
            seen.append(os.waitpid(-1, 0)[0])
        except ChildProcessError:
            time.sleep(0.001)
threading.Thread(target=wait, daemon=True).start()
with jitcache.Cache(sys.argv[3]) as cache:
    made = native.build(cache=cache, **json.loads(sys.argv[2]))
    again = native.build(cache=cache, **json.loads(sys.argv[2]))
time.sleep(0.4)
over.set()
print(json.dumps({"hit": [made.hit, again.hit], "refused": made.refused, "others": [p for p in seen if p != own]}))
"""


def test_host_that_waits_for_all_its_children_sees_its_own(tmp_path: Path) -> None:
    command = words(tmp_path / "cache", sources={"f.c": TEXT})
    command[2] = WAITS
    assert done(command) == [{"hit": [False, True], "refused": "", "others": []}]


def test_killed_at_any_moment_leaves_nothing_running_and_keeps_nothing_wrong(tmp_path: Path) -> None:
    random_moment = random.Random(0)
    mark = f"-DMARK={random.randrange(10**9)}"
    real = in_process(tmp_path / "other", sources={"f.c": TEXT}, flags=[mark])["bytes"]
    command = words(tmp_path / "cache", sources={"f.c": TEXT}, flags=[mark])
    start = time.monotonic()
    subprocess.run(words(tmp_path / "third", sources={"f.c": TEXT}, flags=[mark]), check=True, capture_output=True)
    whole = time.monotonic() - start
    for _ in range(20):
        host = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(random_moment.uniform(0.1, 1.0) * whole)
        host.kill()
        out, _ = host.communicate()
        assert left(mark) == []
        if out:  # it had come to its end
            assert said(out.decode())[0]["bytes"] == real
    for hit in (None, True):
        found = in_process(tmp_path / "cache", sources={"f.c": TEXT}, flags=[mark])
        assert found["bytes"] == real
        assert hit is None or found["hit"]


def test_compiler_that_takes_too_long_is_ended(tmp_path: Path, cache: Any) -> None:
    import jitcache
    from jitcache import native

    length = f"{random.randrange(10**5, 10**6)}.75"
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nsleep {length}\nexec {need("gcc")} "$@"\n')
    wrapper.chmod(0o755)
    for of in (cache, False):
        start = time.monotonic()
        with pytest.raises(jitcache.CompileError, match="longer than"):
            native.build(TEXT, compiler=wrapper, cache=of, timeout=0.5)
        assert 0.4 < time.monotonic() - start < 20
        assert left(length) == []
    # Nobody who comes after is kept waiting, and time that is not needed is not taken.
    assert native.build(TEXT, cache=cache, timeout=300).hit is False
