"""What a command is given by whom it is started by: open files, limits."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from typing import Any

import pytest
from conftest import PROGRAM

#: Each looks at descriptor 3, and prints what it has seen.
LOOKS = {
    "file in a folder": "os.read(os.open('x', os.O_RDONLY, dir_fd=3), 9)",
    "folder entered": "(os.fchdir(3), open('x').read())",
    "size": "os.fstat(3).st_size",
    "end": "os.lseek(3, 0, 2)",
}


@pytest.mark.parametrize("how", LOOKS)
def test_what_is_reached_from_a_descriptor_is_not_kept(place: Any, how: str) -> None:
    """Two runs with another file or folder behind it print what each has seen."""
    said = []
    for name, text in (("one", "1"), ("two", "22")):
        (place.folder / name).mkdir()
        (place.folder / name / "x").write_text(text)
        target = place.folder / name / ("x" if how in ("size", "end") else "")
        fd = os.open(target, os.O_RDONLY)
        words = (PROGRAM, "run", "python3", "-c", f"import os; print({LOOKS[how]})")
        p = place.plain(*words, pass_fds=(3,), preexec_fn=lambda fd=fd: os.dup2(fd, 3))
        said.append(p.stdout)
        os.close(fd)
    assert all(said)
    assert said[0] != said[1]


@pytest.mark.parametrize("way", ["/proc/self/fd/3", "/proc/thread-self/fd/3", "/dev/fd/3", "link"])
def test_headers_in_a_folder_that_is_given_are_found_and_not_kept(place: Any, gcc: str, way: str) -> None:
    place.write(a_c='#include "v.h"\nint f(void) { return V; }\n')
    (place.folder / "link").symlink_to("/proc/self/fd/3")
    made = []
    for name in ("one", "two"):
        (place.folder / name).mkdir()
        (place.folder / name / "v.h").write_text(f'#define V sizeof "{name * len(made)}"\n')
        fd = os.open(place.folder / name, os.O_RDONLY)
        words = (PROGRAM, "run", gcc, f"-I{way}", "-c", "a.c", "-o", "a.o")
        p = place.plain(*words, pass_fds=(3,), preexec_fn=lambda fd=fd: os.dup2(fd, 3))
        os.close(fd)
        assert p.returncode == 0, p.stderr
        made.append((place.folder / "a.o").read_bytes())
    assert made[0] != made[1]


def test_what_proc_says_of_namespaces_is_not_kept(place: Any) -> None:
    assert "cannot be read" in place.why("readlink", "/proc/self/ns/uts")
    assert "cannot be read" in place.why("cat", "/proc/net/dev")
    assert "not stored" not in place.why("sh", "-c", "cat /proc/self/cgroup >/dev/null")


@pytest.mark.control("raised")
def test_limits_are_those_of_the_caller(place: Any) -> None:
    """Go raises the limit on open files when it starts."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    words = (PROGRAM, "run", "sh", "-c", "ulimit -n")
    said = [
        place.plain(*words, preexec_fn=lambda n=n: resource.setrlimit(resource.RLIMIT_NOFILE, (n, hard))).stdout
        for n in (200, 300, 200)
    ]
    assert said == [b"200\n", b"300\n", b"200\n"]


def test_limits_count_that_were_asked_for(place: Any) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    script = "ulimit -n; ulimit -Hn"

    def why(which: int, soft: int, most: int) -> str:
        return str(place.why("sh", "-c", script, preexec_fn=lambda: resource.setrlimit(which, (soft, most))))

    assert "miss" in why(resource.RLIMIT_NOFILE, 200, hard)
    assert "miss" not in why(resource.RLIMIT_NOFILE, 200, hard)
    assert "ulimit" in why(resource.RLIMIT_NOFILE, 200, 300)
    place.why("sh", "-c", script)
    assert "miss" not in why(resource.RLIMIT_CORE, 0, 0)


@pytest.mark.control("nospares", rows=[600])
@pytest.mark.parametrize("megabytes", [50, 400, 600])
def test_where_the_address_space_is_small_there_is_only_the_command(place: Any, gcc: str, megabytes: int) -> None:
    place.write(a_c="int a;\n")
    size = megabytes * 1000**2
    for _ in range(2):
        p = place.run(
            "--json", gcc, "-c", "a.c", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))
        )
        assert p.returncode == 0, p.stderr
        assert b'"event":"plain"' in p.stderr and b"ulimit -v" in p.stderr


#: Ignored, and blocked, when the command is started. No shell: those have their own way with signals.
SIGNALS: dict[str, tuple[set[int], set[int]]] = {
    "none": (set(), set()),
    "no broken pipes": ({signal.SIGPIPE}, set()),
    "in the background": ({signal.SIGINT, signal.SIGQUIT}, set()),
    "children are not waited for": ({signal.SIGCHLD}, set()),
    "blocked": (set(), {signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP, signal.SIGRTMIN}),
    "all": ({*signal.valid_signals()} - {signal.SIGKILL, signal.SIGSTOP}, {*signal.valid_signals()}),
}


@pytest.mark.parametrize("how", SIGNALS)
def test_signals_are_those_of_the_caller(place: Any, how: str) -> None:
    """Observed, and as it is run when it is known that it cannot be kept."""
    ignored, blocked = SIGNALS[how]

    def begin() -> None:
        for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(s, signal.SIG_IGN if s in ignored else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def said(*words: Any) -> list[bytes]:
        text = place.plain(*words, preexec_fn=begin, restore_signals=False).stdout
        return [line for line in text.splitlines() if line.startswith((b"SigIgn", b"SigBlk"))]

    for more in ([], ["-"]):
        words = ("grep", "-h", "Sig", "/proc/self/status", *more)
        plain = said(*words)
        assert len(plain) == 2
        for _ in range(3):
            assert said(PROGRAM, "run", *words) == plain


def test_signal_that_waits_is_the_commands(place: Any) -> None:
    """Beside a record of a run for which none waited."""
    words = ("grep", "-h", "Pnd", "/proc/self/status")
    for _ in range(2):
        place.run(*words)

    def begin() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR1, signal.SIGUSR2})
        signal.raise_signal(signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR2)

    plain = place.plain(*words, preexec_fn=begin).stdout
    assert plain.count(b"00000000000000000") < 2
    for _ in range(2):
        assert place.plain(PROGRAM, "run", *words, preexec_fn=begin).stdout == plain


def test_variable_that_is_given_twice_is_given_twice(place: Any, gcc: str) -> None:
    """Which of them is meant is the command's to say."""
    (place.folder / "twice.c").write_text(
        """#include <unistd.h>
        int main(int n, char **words) {
            char *env[] = {words[1], words[2], words[3], words[4], 0};
            return n < 6 ? 1 : execve(words[5], words + 5, env);
        }"""
    )
    assert place.plain(gcc, "twice.c", "-o", "twice").returncode == 0
    given = (f"PATH={place.env['PATH']}", f"JITCACHE_DIR={place.cache}")

    def said(value: str, other: str, *before: Any) -> bytes:
        words = ("/bin/sh", "-c", "echo $V; tr '\\0' '\\n' </proc/$$/environ | grep -c ^V=")
        return bytes(place.plain("./twice", f"V={value}", f"V={other}", *given, *before, *words).stdout)

    for values in (("1", "2"), ("2", "1"), ("1", "2")):
        plain = said(*values)
        for _ in range(2):
            assert said(*values, PROGRAM, "run") == plain


@pytest.mark.parametrize("ignored", [False, True])
def test_replay_to_nobody_ends_as_the_command_would(place: Any, ignored: bool) -> None:
    def begin() -> None:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL)

    words = (PROGRAM, "run", "seq", "100000")
    for _ in range(2):
        place.plain(*words)
    read, write = os.pipe()
    os.close(read)
    p = place.plain(
        *words, stdout=write, stderr=subprocess.PIPE, capture_output=False, preexec_fn=begin, restore_signals=False
    )
    os.close(write)
    assert p.returncode == (1 if ignored else -signal.SIGPIPE)
    assert (b"write error" in p.stderr) == ignored


@pytest.mark.parametrize("fds", [(0,), (1,), (2,), (0, 1, 2)])
def test_descriptors_that_are_closed_are_closed(place: Any, fds: tuple[int, ...]) -> None:
    """Beside a record of those that are open."""
    script = (
        "import os\nfor fd in range(3):\n try: os.fstat(fd)\n except OSError: open('out', 'a').write(str(fd))\nprint(1)"
    )
    words = ("python3", "-c", script)
    for _ in range(2):
        place.run(*words)

    def ends(*before: Any) -> tuple[int, bytes]:
        out = place.folder / "out"
        out.write_bytes(b"")
        p = place.plain(*before, *words, preexec_fn=lambda: [os.close(fd) for fd in fds])
        return p.returncode, out.read_bytes()

    assert ends(PROGRAM, "run") == ends()
