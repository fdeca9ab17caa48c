"""What a command was given as standard input, and as other descriptors, counts if it asks, and not otherwise."""

from __future__ import annotations

import os
import pty
import socket
from typing import Any

import pytest
from conftest import PROGRAM

#: What is asked about standard input, by Python, which asks by itself when it starts.
ASKS = {
    "terminal": "os.isatty(0)",
    "mode": "fcntl.fcntl(0, fcntl.F_GETFL) & os.O_ACCMODE",
    "type": "stat.S_IFMT(os.fstat(0).st_mode)",
    "end": "seek(2)",
    "place": "seek(1)",
    "ready": "poll()",
    "selected": "bool(select.select([0], [], [], 0)[0])",
    "content": "os.read(0, 9)",
    "bytes that wait": "control(termios.FIONREAD)",
    "path": "stat.S_IFMT(os.stat('/dev/stdin').st_mode)",
    "name in proc": "stat.S_IFMT(os.stat('/proc/self/fd/0').st_mode)",
    "peer": "peer()",
    "another's": "subprocess.run(['test', '-p', '/dev/stdin']).returncode",
}
HELP = """
import fcntl, os, select, socket, stat, subprocess, termios
def tried(f):
    try: return f()
    except OSError as e: return e.errno
def seek(whence): return tried(lambda: os.lseek(0, 0, whence))
def control(what): return tried(lambda: fcntl.ioctl(0, what, bytes(4)))
def peer(): return tried(lambda: socket.socket(fileno=os.dup(0)).getpeername())
def poll():
    p = select.poll()
    p.register(0, select.POLLIN)
    return p.poll(0)
"""


def given(kind: str, folder: Any) -> Any:
    """A descriptor to read from."""
    if kind == "null":
        return os.open("/dev/null", os.O_RDONLY)
    if kind == "pipe":
        r, w = os.pipe()
        os.write(w, b"abc")
        os.close(w)
        return r
    if kind == "socket":
        a, b = socket.socketpair()
        b.close()
        return a.detach()
    if kind == "terminal":
        return pty.openpty()[1]
    (folder / kind).write_bytes(kind.encode())
    return os.open(folder / kind, os.O_RDONLY)


def run(place: Any, ask: str, kind: str) -> tuple[str, str]:
    """Launch it; return the answer, and what no two runs print."""
    fd = given(kind, place.folder)
    p = place.run("python3", "-I", "-S", "-c", f"{HELP}\nprint({ask}, os.urandom(8).hex())", stdin=fd)
    os.close(fd)
    assert p.returncode == 0, p.stderr
    answer, _, dice = p.stdout.decode().rpartition(" ")
    return answer, dice


@pytest.mark.control("nodescriptors", rows=["terminal", "mode", "content", "end", "another's"])
@pytest.mark.parametrize("what", ASKS)
def test_standard_input_counts_for_who_asks(place: Any, what: str) -> None:
    first, again = (run(place, ASKS[what], "null") for _ in range(2))
    assert first == again, "with /dev/null it is kept"
    kinds = ["pipe", "file", "longer file", "socket"] + ["terminal"] * (what != "content")  # nobody types
    seen = {kind: run(place, ASKS[what], kind) for kind in kinds}
    plain = {kind: run_plain(place, ASKS[what], kind) for kind in seen}
    assert {kind: answer for kind, (answer, _) in seen.items()} == plain
    assert first[1] not in {dice for _, dice in seen.values()}
    assert run(place, ASKS[what], "null") == first


def run_plain(place: Any, ask: str, kind: str) -> str:
    fd = given(kind, place.folder)
    p = place.plain("python3", "-I", "-S", "-c", f"{HELP}\nprint({ask})", stdin=fd)
    os.close(fd)
    return str(p.stdout.decode()[:-1])


@pytest.mark.control("noexcuse", rows=["python"])
@pytest.mark.parametrize("what", ["python", "bash", "sh", "gcc", "clang"])
def test_standard_input_does_not_count_for_who_only_starts(place: Any, what: str) -> None:
    """GNU make gives its own to one job alone, and the others a pipe that nobody writes to."""
    place.write(a_c="int a;\n")
    words = {
        "python": ["python3", "-I", "-S", "-c", "import os; open('out', 'w').write(os.urandom(8).hex())"],
        "bash": ["bash", "-c", "/bin/true; random out"],
        "sh": ["sh", "-c", "/bin/true; random out"],
        "gcc": ["gcc", "-c", "a.c", "-o", "out"],
        "clang": ["clang", "-c", "a.c", "-o", "out"],
    }[what]
    said = []
    for kind in ("null", "pipe", "file", "terminal"):
        fd = given(kind, place.folder)
        (place.folder / "out").unlink(missing_ok=True)
        said.append(place.run("--json", *words, stdin=fd).stderr.decode())
        os.close(fd)
        assert (place.folder / "out").exists()
    assert '"kept"' in said[0], said
    assert all('"hit"' in text for text in said[1:]), said


@pytest.mark.control("nodescriptors", rows=["open", "pipe"])
@pytest.mark.parametrize(
    "ask",
    [
        pytest.param("tried(lambda: fcntl.fcntl(7, fcntl.F_GETFD))", id="open"),
        pytest.param("tried(lambda: fcntl.fcntl(7, fcntl.F_GETFD)), tried(lambda: os.fstat(7).st_mode)", id="pipe"),
    ],
)
def test_descriptor_counts_for_who_asks_whether_it_is_open(place: Any, ask: str) -> None:
    """It is closed, a pipe, a file, and closed again."""
    script = f"{HELP}\nprint({ask}, os.urandom(8).hex())"

    def said(*before: Any, kind: str | None) -> list[str]:
        fd = given(kind, place.folder) if kind else None

        def begin() -> None:
            if fd is not None:
                os.dup2(fd, 7)

        p = (
            place.plain(*before, "python3", "-I", "-S", "-c", script, close_fds=False, preexec_fn=begin)
            if fd is not None
            else place.plain(*before, "python3", "-I", "-S", "-c", script)
        )
        assert p.returncode == 0, p.stderr
        return list(p.stdout.decode().rsplit(" ", 1))

    closed = said(PROGRAM, "run", kind=None)
    assert said(PROGRAM, "run", kind=None) == closed
    for kind in ("pipe", "file"):
        assert said(PROGRAM, "run", kind=kind)[0] == said(kind=kind)[0] != closed[0]
    assert said(PROGRAM, "run", kind=None) == closed


@pytest.mark.parametrize(
    "script",
    ["d = os.dup(2); fcntl.fcntl(d, fcntl.F_GETFD)", "os.close(7); tried(lambda: fcntl.fcntl(7, fcntl.F_GETFD))"],
    ids=["opened", "closed"],
)
def test_descriptor_that_the_command_has_opened_or_closed_itself_does_not_count(place: Any, script: str) -> None:
    """Shells save descriptors under other numbers, and ask about these."""
    command = (PROGRAM, "run", "python3", "-I", "-S", "-c", f"{HELP}\n{script}\nprint(os.urandom(8).hex())")
    fd = given("pipe", place.folder)
    said = {place.plain(*command, close_fds=False, preexec_fn=lambda: os.dup2(fd, 7)).stdout for _ in range(3)}
    os.close(fd)
    assert len(said) == 1
    assert said != {b""}
