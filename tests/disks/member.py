"""Processes that use a cache (work.py), as the tests see them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

#: How long one answer may take. Nothing waits longer than 10 s by design, and
#: the machine may be busy. A control that must hang need not take as long.
STUCK = float(os.environ.get("DISKS_STUCK", 60))


class Member:
    """A process that works on a cache, told what to do message by message."""

    slowest = 0.0  # of all answers, in seconds, without those that others wait for

    def __init__(self, **env: str) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(STUCK)
        path = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "work.py"), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": path, **env},
        )
        theirs.close()
        self.do("warnings")  # it is up, with the library loaded

    def begin(self, name: str, *args: Any, **more: Any) -> None:
        self.socket.send(json.dumps([name, args, more]).encode())

    def end(self) -> Any:
        """The answer to begin. No answer is a hang, none at all an exception."""
        try:
            message = self.socket.recv(1 << 20)
        except socket.timeout:
            raise AssertionError("it hangs") from None
        assert message, f"it died, {self.process.wait(STUCK)}"
        how, answer = json.loads(message)
        assert how == "done", answer
        return answer

    def do(self, name: str, *args: Any, **more: Any) -> Any:
        start = time.monotonic()
        self.begin(name, *args, **more)
        answer = self.end()
        Member.slowest = max(Member.slowest, time.monotonic() - start)
        return answer

    def descriptors(self, below: Path) -> list[str]:
        """Which files below a folder it has open, as the kernel says."""
        found = []
        for fd in Path(f"/proc/{self.process.pid}/fd").iterdir():
            try:
                name = os.readlink(fd)
            except OSError:
                continue
            if name.startswith(str(below)):
                found.append(name)
        return found

    def leave(self) -> int:
        self.socket.close()
        return self.process.wait(STUCK)

    def __enter__(self) -> Member:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.socket.close()
        try:
            status = self.process.wait(STUCK)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        if kind is None:
            assert status == 0, f"it ended with {status}"


class Strace:
    """strace on a member: some of its system calls fail while this is open."""

    total = 0  # calls that were made to fail, in all tests

    def __init__(self, member: Member, log: Path, *inject: str) -> None:
        self.log = log
        calls = ",".join(i.partition(":")[0] for i in inject)
        command = ["strace", "-f", "-p", str(member.process.pid), "-o", str(log), "-e", f"trace={calls}"]
        for i in inject:
            command += ["-e", f"inject={i}"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def __enter__(self) -> Strace:
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert "attached" in line, line
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.process.send_signal(signal.SIGINT)  # it detaches
        self.process.communicate(timeout=STUCK)

    def injected(self) -> int:
        """How many calls were made to fail."""
        n = len(re.findall(r"\(INJECTED\)$", self.log.read_text(errors="replace"), re.MULTILINE))
        Strace.total += n
        return n
