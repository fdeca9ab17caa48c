"""What cannot be repeated is run each time, as if there was no launcher, and the log says why."""

from __future__ import annotations

import os
import pty
import re
import resource
import shutil
import signal
import sys
import time
from typing import Any

import conftest
import pytest

# A script for each, and what the log must say of it.
NOT_KEPT = {
    "standard input": ("cat; random", "standard input"),
    "changed in place": ("random >> log; random", "modified in place"),
    "something removed": ("random; rm -f victim.txt", "removed"),
    "the time of day": ("random; date", "time of day"),
    "a file with a time of its own": ("random made; cp -p /etc/passwd copy", "set its modification time"),
    "another host": (
        f"random; {sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", 9))' 2>/dev/null || true",
        "connects",
    ),
    "a descriptor": ("random; echo x >&7", "descriptor"),
    "a child that goes on": ("random; sleep 3 >/dev/null 2>&1 </dev/null &", "left a process running"),
}


@pytest.mark.control("anytimes", rows=["a file with a time of its own"])
@pytest.mark.parametrize("what", NOT_KEPT)
def test_run_each_time_and_said_why(place: Any, what: str) -> None:
    body, why = NOT_KEPT[what]
    script = place.tool("script", f"#!/bin/sh\n{body}\n")
    place.write(typed_txt="typed\n", log="older\n")
    # rm and cp ask for the position of a file that is their standard input, which is a reason of its own.
    typed = "typed.txt" if what == "standard input" else "/dev/null"
    line = f"exec {conftest.PROGRAM} run {script} <{typed} 7>given"
    log = place.folder.parent / "log"
    outputs = []
    for _ in range(3):
        place.write(victim_txt="here")
        p = place.plain("/bin/sh", "-c", line, env={"JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(log)})
        assert p.returncode == 0
        outputs.append(p.stdout)
    assert len(set(outputs)) == 3
    if what == "standard input":
        assert outputs[2].startswith(b"typed\n")
    said = log.read_text()
    assert said.count("not stored") == 3
    assert said.count(why) == 3


def test_refusals_are_in_stats(place: Any) -> None:
    script = place.tool("script", "#!/bin/sh\ndate\n")
    for _ in range(2):
        place.run(script)
    text = place.plain(conftest.PROGRAM, "stats").stdout.decode()
    assert re.search(r"not stored: not repeatable +2", text), text


def test_nothing_of_standard_input_is_lost(place: Any) -> None:
    """The launcher reads none of it, whether the command runs or is replayed."""
    place.write(list_txt="one\ntwo\n")
    script = place.tool("quiet", "#!/bin/sh\nrandom >&2\n")
    loop = f"while read -r line; do {conftest.PROGRAM} run {script}; echo $line; done < list.txt"
    for _ in range(2):
        assert place.plain("/bin/sh", "-c", loop).stdout == b"one\ntwo\n"


def test_prog_into_cat(place: Any) -> None:
    script = place.tool("lines", "#!/bin/sh\nrandom; seq 20000\n")
    line = f"{conftest.PROGRAM} run {script} | cat"
    said = [place.plain("/bin/sh", "-c", line).stdout for _ in range(2)]
    assert said[0] == said[1]
    assert said[0].endswith(b"20000\n")


def test_prog_into_head(place: Any) -> None:
    """Who reads has enough: the command dies of SIGPIPE, and so does a replay."""
    script = place.tool("lines", "#!/bin/sh\nexec seq 2000000\n")
    line = f"({conftest.PROGRAM} run {script}; echo $? >status) | head -n 1"
    for _ in range(2):
        assert place.plain("/bin/sh", "-c", line, timeout=30).stdout == b"1\n"
        assert place.read("status") == b"141\n"
    place.run(script)  # all of it, and kept
    assert place.plain("/bin/sh", "-c", line, timeout=30).stdout == b"1\n"
    assert place.read("status") == b"141\n"


def test_output_streams_through(place: Any) -> None:
    """What is printed is seen when it is printed, and not at the end."""
    script = place.tool("slow", "#!/bin/sh\necho first; until test -e told; do sleep 0.1; done; echo second\n")
    with place.start(script) as p:
        assert p.stdout.readline() == b"first\n"  # it goes on when this has been read
        (place.folder / "told").touch()
        assert p.communicate(timeout=60)[0] == b"second\n"


def test_daemon_does_not_hold_the_command(place: Any) -> None:
    script = place.tool("starts", "#!/bin/sh\nrandom\nsetsid sleep 20 >/dev/null 2>&1 </dev/null &\n")
    for _ in range(2):
        began = time.monotonic()
        assert place.run(script).returncode == 0
        assert time.monotonic() - began < 15


def test_daemon_lives(place: Any) -> None:
    """What a command leaves running goes on, and works."""
    late = "sleep 1; echo alive > early; mv early late"
    script = place.tool("starts", f"#!/bin/sh\nsetsid sh -c '{late}' >/dev/null 2>&1 </dev/null &\n")
    place.run(script)
    deadline = time.monotonic() + 10
    while not (place.folder / "late").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert place.read("late") == b"alive\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGKILL])
def test_signals_reach_the_command(place: Any, number: int) -> None:
    script = place.tool("waits", "#!/bin/sh\necho ready\nexec sleep 20\n")
    with place.start(script) as p:
        assert p.stdout.readline() == b"ready\n"
        p.send_signal(number)
        assert p.wait(10) == -number
        assert p.stdout.read() == b""  # the command has closed it: nothing runs on


def test_command_that_dies_of_a_signal(place: Any) -> None:
    script = place.tool("dies", "#!/bin/sh\nkill -SEGV $$\n")
    assert place.run(script).returncode == -signal.SIGSEGV


@pytest.mark.parametrize("word", ["nosuch", "./nosuch", "/nosuch/at/all"])
def test_command_that_is_not_there(place: Any, word: str) -> None:
    assert place.run(word).returncode == 127


def test_folder_in_path_that_has_the_commands_name(place: Any) -> None:
    (place.folder / "tool").mkdir()
    place.env["PATH"] = f"{place.folder}:{place.env['PATH']}"
    assert place.run("tool").returncode == 126  # as of a shell
    place.tool("tool", "#!/bin/sh\nexit 5\n")
    assert place.run("tool").returncode == 5


def test_command_that_is_no_program(place: Any) -> None:
    place.write(data_txt="text")
    assert place.run("./data.txt").returncode == 126


def test_script_without_an_interpreter(place: Any) -> None:
    script = place.tool("bare", "random\n")
    said = [place.run(script) for _ in range(2)]
    assert [p.returncode for p in said] == [0, 0]
    assert said[0].stdout


def test_inside_itself(place: Any) -> None:
    """A launcher in a launched command only becomes its command: one observer sees it all."""
    script = place.tool("outer", f"#!/bin/sh\n{conftest.PROGRAM} run random; cat input\n")
    (place.folder / "input").write_text("a")
    said = [place.run(script).stdout for _ in range(2)]
    assert said[0] == said[1]
    (place.folder / "input").write_text("b")
    assert place.run(script).stdout.endswith(b"b")


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_under_strace(place: Any) -> None:
    p = place.plain("strace", "-f", "-o", "/dev/null", conftest.PROGRAM, "run", "random", "out")
    assert p.returncode == 0
    assert p.stdout == place.read("out")


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_launcher_starts_no_thread(place: Any) -> None:
    """A hit waits for no other thread to get its turn to end. The command works on all processors."""
    counts = []
    for words in (["run", "-nonsense"], ["version"]):
        p = place.plain("env", "-u", "GOMAXPROCS", "strace", "-f", "-o", "trace", conftest.PROGRAM, *words)
        assert p.returncode == (2 if words[0] == "run" else 0)
        counts.append(len(re.findall(rb"\bclone3?\(", place.read("trace"))))
    assert counts[0] == 0
    assert counts[1] > 0 or len(os.sched_getaffinity(0)) == 1


def test_where_ptrace_is_refused(place: Any, gcc: str) -> None:
    """Under a filter that refuses it, as in some containers: the command runs, and is not kept."""
    place.write(refuse_c=REFUSE)
    assert place.plain(gcc, "refuse.c", "-o", "refuse").returncode == 0
    said = [place.plain("./refuse", conftest.PROGRAM, "run", "random", "out") for _ in range(2)]
    assert [p.returncode for p in said] == [0, 0]
    assert said[0].stdout != said[1].stdout == place.read("out")


REFUSE = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int n, char **words)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof f / sizeof *f, f};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 99;
	execvp(words[1], words + 1);
	return 98;
}
"""


def test_what_is_printed_to_a_terminal_is_printed_again(place: Any) -> None:
    """A launched command prints to a file, from which the terminal gets it."""
    script = place.tool("asks", "#!/bin/sh\nrandom; echo late >&2\n")
    place.run(script)
    said = []
    for _ in range(2):
        ours, theirs = pty.openpty()
        place.run(script, stdout=theirs, stderr=theirs, capture_output=False)
        os.close(theirs)
        said.append(os.read(ours, 100).replace(b"\r\n", b"\n"))
        os.close(ours)
    assert said[0] == said[1]
    assert said[0].endswith(b"\nlate\n")


@pytest.mark.parametrize(
    "setting", ["JITCACHE=off", "JITCACHE=readonly", "JITCACHE_DIR=/proc/nowhere", "JITCACHE_DIR=relative"]
)
def test_cache_that_cannot_be_used(place: Any, setting: str) -> None:
    name, _, value = setting.partition("=")
    said = [place.run("random", "out", env={name: value}) for _ in range(2)]
    assert [p.returncode for p in said] == [0, 0]
    assert said[1].stdout == place.read("out")


def test_full_disk_for_outputs(place: Any) -> None:
    """A replay that cannot write leaves nothing half, and the command says what is wrong."""
    script = place.tool("large", "#!/bin/sh\nset -e; head -c 300000 /dev/urandom > out\n")
    assert place.run(script).returncode == 0
    (place.folder / "out").unlink()

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

    p = place.run(script, preexec_fn=limit)
    assert p.returncode != 0
    assert place.leftovers() == []


def test_setuid_programs_get_their_privileges(place: Any, gcc: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    place.write(who_c='#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%d\\n", geteuid()); }\n')
    for folder in (place.folder, *place.folder.parents):
        if folder.stat().st_uid == 0 and len(folder.parts) > 2:
            folder.chmod(0o755)
    assert place.plain(gcc, "who.c", "-o", "who").returncode == 0
    (place.folder / "who").chmod(0o4755)
    place.cache.mkdir()
    place.cache.chmod(0o777)
    for _ in range(3):
        p = place.run(
            "./who",
            preexec_fn=lambda: os.setresuid(65534, 65534, 65534),
            env={"JITCACHE_DIR": str(place.folder.parent / "cache-of-nobody")},
        )
        assert p.stdout == b"0\n", p.stderr


def test_version_is_the_headers(place: Any) -> None:
    header = (conftest.ROOT / "include" / "jitcache.h").read_text()
    version = re.search(r'#define JITCACHE_VERSION "(.*)"', header)[1]
    assert place.plain(conftest.PROGRAM, "version").stdout == f"jitcache {version}\n".encode()
