"""Prepared processes: rows of a table that need not import a framework each.

A row's process is forked from one that has imported the framework, if nothing that the framework reads when it is
imported is the row's own. Otherwise it starts anew, by itself, or because the test says why.
"""

from __future__ import annotations

import atexit
import collections
import itertools
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Union

FORKING = Path(__file__).resolve().parent / "forking.py"

#: With this variable set to 1, every process starts anew.
FRESH = "JITCACHE_TEST_FRESH"

#: What any row may have of its own: pytest's variables change with each test, and a child sets up its own path.
OWN = frozenset({"PYTHONPATH", "HOME", "PWD", "OLDPWD"})

#: Modules that Python's start-up imports wherever they are.
STARTUP = frozenset({"sitecustomize", "usercustomize"})

#: How many processes take turns: most rows have two or three, each of which then has a seed and addresses of its own.
SOURCES = 3


class Process:
    """A forked child, with the part of Popen's interface that tests use; its streams are text."""

    def __init__(self, code: str, pid: int, row: socket.socket, streams: list[IO[str] | None]) -> None:
        self.args = [sys.executable, "-c", code]
        self.pid, self.returncode = pid, None
        self.stdin, self.stdout, self.stderr = streams
        self._row = row
        self._read: dict[IO[str], list[str]] = {}
        self._readers: list[threading.Thread] = []

    def poll(self) -> int | None:
        """Return the returncode, or None while the process runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; return the returncode, which is negative after a signal."""
        if self.returncode is None:
            if not select.select([self._row], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            said = read_line(self._row)
            if not said:
                raise RuntimeError("the prepared process has ended before its child")
            self.returncode = int(said)
            self._row.close()
        return self.returncode

    def communicate(self, text: str | None = None, timeout: float | None = None) -> tuple[str | None, str | None]:
        """Write the input, read both streams to their ends, and wait. After a timeout one may call it again."""
        if not self._readers:
            for stream in filter(None, (self.stdout, self.stderr)):
                reader = threading.Thread(target=self._read_all, args=(stream,), daemon=True)
                reader.start()
                self._readers.append(reader)
        if self.stdin is not None and not self.stdin.closed:
            try:
                self.stdin.write(text or "")
                self.stdin.close()
            except BrokenPipeError:
                pass
        for reader in self._readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout)
        self.wait(timeout)
        out, err = ("".join(self._read[s]) if s else None for s in (self.stdout, self.stderr))
        return out, err

    def _read_all(self, stream: IO[str]) -> None:
        with stream:
            self._read[stream] = [stream.read()]

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(15)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(9)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in filter(None, (self.stdin, self.stdout, self.stderr)):
            stream.close()
        self.wait()


Started = Union[Process, "subprocess.Popen[str]"]


def read_line(row: socket.socket) -> bytes:
    """Read a line, byte by byte: what comes after it is left."""
    line = b""
    while not line.endswith(b"\n"):
        byte = row.recv(1)
        if not byte:
            return b""
        line += byte
    return line


class Source:
    """One prepared process, and what starts children from it."""

    def __init__(self, imports: Sequence[str], environment: Mapping[str, str]) -> None:
        own, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(FORKING), str(theirs.fileno()), *imports],
                env={**environment},
                cwd="/",  # where no framework finds settings
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,  # as a child's, whose sys.stdout is made now
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )
        self._control = own
        #: The names of the modules that are imported, without what they are in.
        self.names = {*read_line(own).decode().split()}
        if not self.names:
            own.close()
            raise RuntimeError(f"a prepared process does not start: {self._process.communicate()[1].decode()}")

    def start(self, code: str, request: Mapping[str, object], streams: Sequence[int]) -> tuple[int, socket.socket]:
        """Fork a child; return its number, and the socket that tells its end."""
        row, theirs = socket.socketpair()
        body = json.dumps({"code": code, "python": sys.executable, **request}).encode()
        with theirs:
            socket.send_fds(self._control, [struct.pack(">I", len(body))], [theirs.fileno(), *streams])
            self._control.sendall(body)
        said = read_line(row)
        if not said:
            raise RuntimeError(f"a prepared process has ended: {self._process.communicate()[1].decode()}")
        return int(said), row

    def close(self) -> None:
        """End the prepared process."""
        self._control.close()
        self._process.communicate()


class Prepared:
    """Processes that have imported ``imports`` in an environment, and fork a child for each row.

    They take turns: processes that follow each other have other hash seeds and other
    addresses, as fresh ones have. A row forks if it has the prepared environment but for
    OWN and ``free``, variables that nothing reads before the row's own code does, and if no
    module in its PYTHONPATH has the name of one that is imported already.
    """

    def __init__(self, imports: Sequence[str], environment: Mapping[str, str], free: Iterable[str]) -> None:
        self._imports, self._free = imports, {*OWN, *free}
        self._environment = self._what_counts(environment)
        self._sources: list[Source] = []
        self._turns, self._home = itertools.count(), ""
        self._lock = threading.Lock()
        #: How many processes were forked, and how many started anew, by reason.
        self.counts: collections.Counter[str] = collections.Counter()

    def start(
        self,
        code: str,
        arguments: Sequence[str] = (),
        *,
        env: Mapping[str, str],
        cwd: str | os.PathLike[str],
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        fresh: str = "",
    ) -> Started:
        """Start a process as ``python -c CODE ARGUMENTS`` would. ``fresh`` says why it has to start anew, if it has."""
        why = fresh or ("all do" if os.environ.get(FRESH) == "1" else self._why_anew(env))
        self.counts[why] += 1
        if why:
            command = [sys.executable, "-c", code, *arguments]
            return subprocess.Popen(command, env=env, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr, text=True)
        theirs, ours = [], []
        try:
            for kind, number in ((stdin, 0), (stdout, 1), (stderr, 2)):
                stream, end = _open_stream(kind, number, theirs)
                theirs.append(stream)
                ours.append(end)
            request = {"environment": {**env}, "folder": str(cwd), "arguments": [*arguments], "umask": _umask()}
            with self._lock:
                pid, row = self._source(next(self._turns)).start(code, request, theirs)
        finally:
            for stream in {*theirs} - {0, 1, 2}:
                os.close(stream)
        return Process(code, pid, row, ours)

    def told(self) -> str:
        """Say how many processes were forked, and why the others started anew."""
        anew = [f"{why} ({n})" for why, n in self.counts.most_common() if why]
        said = f"{self.counts['']} processes forked, {sum(self.counts.values()) - self.counts['']} started anew"
        return f"{said}: {', '.join(anew)}" if anew else said

    def _what_counts(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {k: v for k, v in environment.items() if k not in self._free and not k.startswith("PYTEST_")}

    def _why_anew(self, env: Mapping[str, str]) -> str:
        """Return why a process in an environment has to start anew, or nothing."""
        counts = self._what_counts(env)
        differ = {name for name, _ in {*counts.items()} ^ {*self._environment.items()}}
        if differ:
            return f"{' and '.join(sorted(differ))} may be read at import"
        with self._lock:
            taken = self._source(0).names | STARTUP
        for folder in filter(None, env.get("PYTHONPATH", "").split(os.pathsep)):
            names = {name.partition(".")[0] for name in os.listdir(folder)} if os.path.isdir(folder) else set()
            if hidden := names & taken:
                return f"{' and '.join(sorted(hidden))} would hide what is imported"
        return ""

    def _source(self, turn: int) -> Source:
        """Return the prepared process whose turn it is, which is started if it is its first."""
        if not self._home:
            self._home = tempfile.mkdtemp(prefix="prepared-")
            atexit.register(self.close)
        if turn % SOURCES == len(self._sources):
            self._sources.append(Source(self._imports, {**self._environment, "HOME": self._home}))
        return self._sources[turn % SOURCES]

    def close(self) -> None:
        """End the prepared processes."""
        for source in self._sources:
            source.close()
        if self._home:
            shutil.rmtree(self._home, ignore_errors=True)
        self._sources, self._home, self._turns = [], "", itertools.count()
        atexit.unregister(self.close)


def _open_stream(kind: int, number: int, before: Sequence[int]) -> tuple[int, IO[str] | None]:
    """Return a child's standard stream, and our end of it if it is a pipe."""
    if kind == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), None
    if kind == subprocess.STDOUT:
        return os.dup(before[1]), None
    if kind != subprocess.PIPE:
        return os.dup(kind), None
    reads, writes = os.pipe()
    return (reads, open(writes, "w")) if number == 0 else (writes, open(reads))


def _umask() -> int:
    with open("/proc/self/status") as f:
        return next(int(line.split()[1], 8) for line in f if line.startswith("Umask:"))
