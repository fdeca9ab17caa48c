"""Remotes for tests: real engines on loopback, and machines that share nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import BinaryIO

import pytest
from ports import free_port, wait_for_port
from processes import check

#: Compiles each of its arguments that is not in the cache; the witness is a file beside the program.
PROGRAM = """
import json, os, sys, time, jitcache
def compiled(n):
    with open(os.environ["WITNESS"], "a") as f:
        f.write(n + "\\n")
    return ("code of " + n).encode() * 1000
with jitcache.Cache() as cache:
    before = cache.stats()["total"]
    for n in sys.argv[1:]:
        key = jitcache.Key(source=n).named(n)
        got = cache.get_or_compile(key, lambda: compiled(n), kind="cubin", attributes={"of": n})
        assert got == ("code of " + n).encode() * 1000
        with cache.entry(key) as e:
            assert e.kind == "cubin" and e.name == n and e.attributes == {"of": n}
    total = cache.stats()["total"]
    print(json.dumps([total[c] - before[c] for c in ("hits_remote", "compiles")]))
"""


def whole(f: BinaryIO) -> bytes:
    """Read one answer of Redis, however long it is."""
    line = f.readline()
    kind, size = line[:1], line[1:-2]
    if kind == b"$" and size != b"-1":
        return line + f.read(int(size) + 2)
    if kind == b"*":
        return line + b"".join(whole(f) for _ in range(int(size)))
    return line


class Redis:
    """A Redis of a test's own."""

    def __init__(self, folder: Path, *settings: str, tls: bool = False) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("there is no redis-server")
        self.port, self.folder = free_port(), folder
        self.command = [
            program,
            *(["--port", "0", "--tls-port"] if tls else ["--port"]),
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(folder),
            *settings,
        ]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        wait_for_port(self.port, self.process)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def say(self, *words: bytes | str) -> bytes:
        """Send a command of its protocol, and return the answer as it comes."""
        raw = [w.encode() if isinstance(w, str) else w for w in words]
        text = b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in raw)
        with socket.create_connection(("127.0.0.1", self.port)) as s:
            s.sendall(text)
            s.settimeout(60)
            with s.makefile("rb") as f:
                return whole(f)

    def names(self) -> list[str]:
        """Return the keys that are kept for long."""
        return [n for n in self.all() if "-" not in n.rpartition(":")[2]]

    def claims(self) -> list[str]:
        return [n for n in self.all() if n.endswith("-claim")]

    def all(self) -> list[str]:
        answer = self.say("KEYS", "*").split(b"\r\n")
        return sorted(w.decode() for w in answer[2::2])

    def get(self, name: str) -> bytes:
        answer = self.say("GET", name)
        return answer[answer.index(b"\n") + 1 : -2]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"


class Machine:
    """Processes with a directory, a helper and settings of their own."""

    def __init__(self, folder: Path, name: str, remote: str, **env: str) -> None:
        self.folder, self.witness = folder / name, folder / "witness"
        self.folder.mkdir(mode=0o700)
        # The path of a socket must be short.
        self.run = Path(f"/tmp/jitcache-test-{os.getpid()}-{abs(hash(str(self.folder))) % 10**8}")
        self.run.mkdir(mode=0o700)
        self.env = {
            "JITCACHE_REMOTE": remote, "JITCACHE_DIR": str(self.folder / "cache"), "WITNESS": str(self.witness),
            "XDG_RUNTIME_DIR": str(self.run), "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / "config"),
            # As on a machine of its own, also where the tests run in a container.
            "JITCACHE_REMOTE_EXIT_WAIT": "0", **env,
        }  # fmt: skip

        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str, **more: str) -> subprocess.Popen[bytes]:
        """Start a process. end() kills it if the test fails before it has waited for it."""
        p = subprocess.Popen(words, env={**os.environ, **self.env, **more})
        self.started.append(p)
        return p

    def compile(self, *sources: str, **more: str) -> str:
        return check(PROGRAM, *sources, env={**self.env, **more}).strip()

    def outboxes(self) -> list[Path]:
        return list((self.folder / "cache/v1/outbox").glob("*/*"))

    def sent(self, seconds: float = 20) -> None:
        """Wait until nothing waits to be sent."""
        end = time.monotonic() + seconds
        while self.outboxes():
            assert time.monotonic() < end, f"{self.outboxes()} are not sent"
            time.sleep(0.01)

    def helpers(self) -> list[int]:
        """Return the helpers that run, which are found by the sockets in their environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"CRSH_IPC_ENDPOINT={self.run}/".encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def end(self) -> None:
        for p in self.started:
            p.kill()
            p.wait()
        for pid in self.helpers():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.run, ignore_errors=True)
