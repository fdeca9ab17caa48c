"""One process that uses a cache while the disk under it is bad.

    python work.py SOCKET

It does what the messages on the socket say (member.py sends them) and answers
each: what it got, and whether those were the right bytes. Between messages it
calls nothing but recv and send, so that a fault that strace plans for any other
call meets the library. An exception other than jitcache's own is an answer too,
and fails the test.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import resource
import signal
import socket
import sys
import time
import traceback
from typing import Any

import jitcache

#: What the library warned of.
warnings: list[str] = []


class Collect(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warnings.append(record.getMessage())


def code(n: int, size: int) -> bytes:
    """What key n compiles to: as an ELF file would begin, then its own bytes."""
    text = b"\x7fELF%d." % n
    return (text * (size // len(text) + 1))[:size]


def key(n: int) -> jitcache.Key:
    return jitcache.Key(n=n).named(f"entry {n}")


class Work:
    """The messages, one method each."""

    cache: jitcache.Cache
    hoard: list[int]

    def open(self, directory: str, **options: Any) -> str:
        self.cache = jitcache.Cache(directory, memory_size=0, **options)
        return "open"

    def get(self, n: int, size: int = 1000) -> str:
        """ "right", or why it missed; "WRONG" is what must never be."""
        data = self.cache.get(key(n))
        if data is None:
            return self.cache.last_miss
        return "right" if data == code(n, size) else "WRONG"

    def put(self, n: int, size: int = 1000, replace: bool = False) -> str:
        """ "stored", or why not."""
        return "stored" if self.cache.put(key(n), code(n, size), replace=replace) else self.cache.last_reason

    def compile(self, n: int, size: int = 1000, log: str = "", seconds: float = 0) -> list[Any]:
        """Whether the bytes were right, and how often this process compiled."""
        times = 0

        def run() -> bytes:
            nonlocal times
            times += 1
            if log:
                fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
                os.write(fd, b"%d\n" % n)
                os.close(fd)
            time.sleep(seconds)
            return code(n, size)

        return [self.cache.get_or_compile(key(n), run) == code(n, size), times]

    def lease(self, n: int) -> str:
        """Take a lease and give it up."""
        with self.cache.acquire(key(n)) as lease:
            return "hit" if lease.data is not None else "leased"

    def path(self, n: int, size: int = 1000) -> str:
        """Whether the file that the entry's path names has the right bytes."""
        entry = self.cache.entry(key(n))
        if entry is None:
            return self.cache.last_miss
        with entry, open(entry.path, "rb") as f:
            return "right" if f.read(size) == code(n, size) else "WRONG"

    def task(self, name: str, *args: Any) -> Any:
        """A method of the cache; what maintenance cannot do is jitcache's error, and allowed."""
        try:
            return getattr(self.cache, name)(*args)
        except jitcache.Error as e:
            return f"refused: {e}"

    def stir(self, seconds: float, seed: int, keys: int = 40) -> dict[str, int]:
        """Put, get and compile at random for a while; count the outcomes."""
        import random

        r = random.Random(seed)
        outcomes: dict[str, int] = {}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            n = 10_000 + r.randrange(keys)  # keys that no other message uses, with sizes of their own
            size = 500 + 300 * (n - 10_000)
            what = r.random()
            if what < 0.5:
                outcome = "get " + self.get(n, size)
            elif what < 0.8:
                outcome = "put " + self.put(n, size, replace=what < 0.7)
            else:
                outcome = f"compile {'right' if self.compile(n, size)[0] else 'WRONG'}"
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
        return outcomes

    def warnings(self) -> list[str]:
        return warnings

    def exhaust(self) -> int:
        """Leave this process no descriptor."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        self.hoard = []
        with contextlib.suppress(OSError):
            while True:
                self.hoard.append(os.open("/dev/null", os.O_RDONLY))
        return len(self.hoard)

    def relax(self) -> None:
        for fd in self.hoard:
            os.close(fd)

    def limit(self, size: int) -> None:
        """Let no file grow beyond size; to try is death, as in a program in C."""
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    def become(self, uid: int) -> None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def main() -> int:
    logging.getLogger("jitcache").addHandler(Collect())
    logging.getLogger("jitcache").propagate = False
    peer = socket.socket(fileno=int(sys.argv[1]))
    work = Work()
    available = jitcache.available()
    if not available[0]:
        raise SystemExit(available[1])
    json.dumps(traceback.format_exc())  # imports what answers need
    while True:
        message = peer.recv(1 << 16)
        if not message:
            return 0
        name, args, more = json.loads(message)
        try:
            answer = ["done", getattr(work, name)(*args, **more)]
        except BaseException:
            answer = ["raised", traceback.format_exc()]
        peer.send(json.dumps(answer).encode())


if __name__ == "__main__":
    sys.exit(main())
