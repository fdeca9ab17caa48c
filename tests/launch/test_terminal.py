"""A command that prints to a terminal knows it, launched or replayed, as without the launcher."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from pathlib import Path
from typing import Any

import conftest
import pytest


class Terminal:
    """One of a size, that keeps what is printed to it."""

    def __init__(self, columns: int = 80) -> None:
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._text = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                self._text += os.read(self.ours, 4096)
            except OSError:  # all have closed the other end
                return

    def text(self) -> bytes:
        os.close(self.theirs)
        self._reader.join(30)
        os.close(self.ours)
        return self._text.replace(b"\r\n", b"\n")


def on_terminal(place: Any, *words: Any, streams: str = "io2", columns: int = 80, **env: str) -> bytes:
    """Run words with some of i, o and 2 on a terminal; return what it shows, and then what went elsewhere."""
    t = Terminal(columns)
    try:
        p = subprocess.run(
            [str(w) for w in words],
            cwd=place.folder,
            env={**place.env, "TERM": "xterm-256color", **env},
            stdin=t.theirs if "i" in streams else subprocess.DEVNULL,
            stdout=t.theirs if "o" in streams else subprocess.PIPE,
            stderr=t.theirs if "2" in streams else subprocess.PIPE,
            check=False,
            timeout=60,
        )
    finally:
        text = t.text()
    return text + (p.stdout or b"") + (p.stderr or b"")


def launched(place: Any, *words: Any, **more: Any) -> bytes:
    return on_terminal(place, conftest.PROGRAM, "run", *words, **more)


#: Says of each standard descriptor whether it is a terminal; and something random, so that a replay is known.
ASKS = "#!/bin/sh\nfor fd in 0 1 2; do [ -t $fd ] && echo $fd; done; (exec 5>&1; [ -t 5 ] && echo copy)\nrandom\n"


@pytest.mark.control("notells", rows=["o2"])
@pytest.mark.parametrize("streams", ["", "o", "2", "o2", "io2", "i"])
def test_command_is_told_what_is_a_terminal(place: Any, streams: str) -> None:
    script = place.tool("asks", ASKS)
    plain = on_terminal(place, script, streams=streams)
    first, second = (launched(place, script, streams=streams) for _ in range(2))
    assert first.splitlines()[:-1] == plain.splitlines()[:-1]
    assert second == first


def test_runs_with_and_without_a_terminal_are_two(place: Any) -> None:
    script = place.tool("asks", ASKS)
    said = [launched(place, script, streams=s) for s in ("o", "", "2", "o", "", "2")]
    assert said[:3] == said[3:]
    assert len(set(said)) == 3


@pytest.mark.control("notells")
def test_colours_of_a_compiler(place: Any, gcc: str) -> None:
    place.write(a_c="int f(void) { int unused; }\n")
    command = [gcc, "-Wall", "-c", "a.c"]
    plain = on_terminal(place, *command)
    assert b"\x1b[" in plain
    for _ in range(2):
        assert launched(place, *command) == plain
    assert b"\x1b[" not in place.run(*command).stderr
    assert place.plain(conftest.PROGRAM, "stats").stdout.count(b"not repeatable") == 0


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"GCC_COLORS": ""}, {"GCC_COLORS": "warning=01;36"}], ids=str)
def test_variables_of_a_terminal_count(place: Any, gcc: str, env: dict[str, str]) -> None:
    place.write(a_c="int f(void) { int unused; }\n")
    command = [gcc, "-Wall", "-c", "a.c"]
    before = launched(place, *command)
    after = on_terminal(place, *command, **env)
    assert after != before
    for _ in range(2):
        assert launched(place, *command, **env) == after
    assert launched(place, *command) == before


def test_size_of_a_terminal_is_not_known(place: Any, gcc: str) -> None:
    """It would be an input: whoever makes the window larger would compile all again."""
    place.write(
        size_c='#include <stdio.h>\n#include <sys/ioctl.h>\nint main(void) { struct winsize w; for (int i = 0; i < 3; i++) printf("%d", ioctl(i, TIOCGWINSZ, &w)); }\n'
    )
    assert place.plain(gcc, "size.c", "-o", "size").returncode == 0
    script = place.tool("asks", f"#!/bin/sh\n{place.folder}/size; random\n")
    said = {launched(place, script, columns=n) for n in (80, 200)}
    assert len(said) == 1
    assert said.pop().startswith(b"-1-1-1")


def test_python_prints_lines_at_once_to_a_terminal(place: Any, tmp_path: Path) -> None:
    """It does so by itself where it is told of the terminal: so the order of both streams is that of a plain run."""
    words = ["/usr/bin/env", "python3", "-c", "import sys; print(1); sys.stderr.write('2\\n'); print(3)"]
    env = {"PATH": os.environ["PATH"]}
    assert launched(place, *words, **env) == on_terminal(place, *words, **env) == b"1\n2\n3\n"


def test_both_streams_are_in_their_order_on_a_terminal(place: Any) -> None:
    place.tool("talks", "#!/bin/sh\necho a; echo b >&2; echo c; echo d >&2; random\n")
    said = [launched(place, "talks") for _ in range(2)]
    assert said[0] == said[1]
    assert said[0].startswith(b"a\nb\nc\nd\n")
