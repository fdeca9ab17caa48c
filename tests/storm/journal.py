"""The outside journal: lines that processes append, and what follows from them.

A line is a word, who says it, of which key, and when. One write to a file that is
open for appending is whole, whoever is killed; time.monotonic() is the same clock
in all processes.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import NamedTuple


class Line(NamedTuple):
    """What was said."""

    when: float
    word: str
    pid: int
    thread: int
    key: int

    @property
    def who(self) -> tuple[int, int]:
        return self.pid, self.thread


class Journal:
    """The file. Opened before forking, it is shared by all processes."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._read = 0
        self._rest = b""

    def say(self, word: str, key: int) -> None:
        """Append a line."""
        who = f"{os.getpid()} {threading.get_native_id()}"
        os.write(self._file, f"{time.monotonic():.6f} {word} {who} {key}\n".encode())

    def news(self) -> list[Line]:
        """Return the lines since the last call, in the order of the file."""
        data = os.pread(self._file, 1 << 24, self._read)
        self._read += len(data)
        *whole, self._rest = (self._rest + data).split(b"\n")
        return [_line(text) for text in whole]

    def lines(self) -> list[Line]:
        """Return all lines, in the order of their times."""
        self._read, self._rest = 0, b""
        return sorted(self.news())


def _line(text: bytes) -> Line:
    when, word, pid, thread, key = text.decode().split()
    return Line(float(when), word, int(pid), int(thread), int(key))


def intervals(lines: list[Line], first: str, last: str) -> dict[int, list[tuple[Line, Line | None]]]:
    """Pair each first word with the same thread's last word for the key; None if it never came."""
    pairs: dict[int, list[tuple[Line, Line | None]]] = {}
    waiting: dict[tuple[int, int, int], int] = {}
    for line in lines:
        of = pairs.setdefault(line.key, [])
        if line.word == first:
            waiting[line.pid, line.thread, line.key] = len(of)
            of.append((line, None))
        elif line.word == last:
            at = waiting.pop((line.pid, line.thread, line.key), None)
            if at is not None:
                of[at] = of[at][0], line
    return pairs


def overlaps(of_key: list[tuple[Line, Line | None]]) -> int:
    """Count intervals that begin before the one before has ended."""
    ordered = sorted(of_key)
    return sum(end is None or end.when > then.when for (_, end), (then, _) in zip(ordered, ordered[1:]))


def freed(lines: list[Line], killed: dict[int, float]) -> list[float]:
    """Return, for each compile that died with its process, how long its key took to be begun again.

    The clock runs from the kill, or from the first who asked if nobody was waiting.
    """
    last = {line.pid: line.when for line in lines}  # a word that was under way when the kill came
    deaths = [(max(when, last.get(pid, when)), pid) for pid, when in killed.items()]
    events: list[tuple[float, Line | int]] = [(line.when, line) for line in lines]
    events += deaths
    events.sort(key=_when)
    asking: dict[int, dict[tuple[int, int], float]] = {}
    holder: dict[int, int] = {}  # key -> pid
    free: dict[int, float] = {}  # key -> time of the kill
    delays = []
    for when, what in events:
        if isinstance(what, int):
            for waiting in asking.values():
                for who in [w for w in waiting if w[0] == what]:
                    del waiting[who]
            for key in [k for k, pid in holder.items() if pid == what]:
                del holder[key]
                free[key] = when
        elif what.word == "ask":
            asking.setdefault(what.key, {})[what.who] = when
        elif what.word == "begin":
            if what.key in free:
                delays.append(when - max(free.pop(what.key), min(asking[what.key].values())))
            holder[what.key] = what.pid
        elif what.word == "got":
            del asking[what.key][what.who]
            if holder.get(what.key) == what.pid:
                del holder[what.key]
    return delays


def _when(event: tuple[float, Line | int]) -> tuple[float, bool]:
    return event[0], isinstance(event[1], int)
