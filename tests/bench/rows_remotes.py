"""Rows about remotes: a Redis on loopback, through the helper, beside a client of Redis in Go."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rows_layers import environment
from runs import Ask, BenchError, Contender, Process, Series
from workplace import SIZES, Workplace, check_rise, counters

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ports import free_port, wait_for_port

#: Entries of a round, each in a directory that is empty.
COUNT = 100


@contextmanager
def sockets() -> Iterator[None]:
    """Helpers have their sockets in a folder that ends with this, and so do they."""
    place = Path(tempfile.mkdtemp(prefix="jitcache-bench-", dir="/tmp"))  # the path of a socket is short
    try:
        with environment(XDG_RUNTIME_DIR=str(place)):
            yield
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def redis(w: Workplace) -> Iterator[int]:
    """A Redis of this run's own, its port."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    server = subprocess.Popen([*command, "--dir", str(w.folder(f"redis-{port}"))], stdout=subprocess.DEVNULL)
    try:
        wait_for_port(port, server)
        with sockets():
            yield port
    finally:
        server.kill()
        server.wait()


def _program(w: Workplace, *words: str) -> str:
    command = [str(w.ground.library.parent / "jitcache"), *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def _flush(w: Workplace, folder: Path) -> None:
    _program(w, "-directory", str(folder), "remote", "-timeout", "60s", "flush")


class Relay:
    """GETs through a process that hands on what comes: as many processes as a hit takes, without what jitcache does."""

    def __init__(self, program: Path, path: str, port: int, names: list[str], size: int) -> None:
        self._process = subprocess.Popen([str(program), path, str(port)], stdout=subprocess.PIPE)
        assert self._process.stdout
        self._process.stdout.readline()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._requests = [f"*2\r\n$3\r\nGET\r\n${len(n)}\r\n{n}\r\n".encode() for n in names]
        self._buffer = bytearray(size + (64 << 10))
        self._view = memoryview(self._buffer)

    def get(self, n: int) -> None:
        """Get the value of a name whole, into a buffer."""
        self._socket.sendall(self._requests[n])
        have = self._socket.recv_into(self._view)
        head = self._buffer.index(b"\n")
        want = head + 1 + int(self._buffer[1 : head - 1]) + 2
        while have < want:
            have += self._socket.recv_into(self._view[have:])

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


class _Hits:
    """A contender: first hits in a remote, each copied into a new directory, without and with the time of the copies; puts of as much, alone and behind a relayed GET; bare GETs; BLAKE3 of as much."""

    def __init__(self, w: Workplace, port: int, at: str) -> None:
        import jitcache

        self._w, self._at, self._round = w, at, 0
        self._keys = [jitcache.Key(at=at, n=n) for n in range(COUNT)]
        self._payloads = [os.urandom(SIZES[at]) for _ in range(8)]
        self._secret = w.folder(f"secret-{at}") / "key"
        self._public = _program(w, "trust", "new", str(self._secret))
        self._urls = {
            "hit": f"redis://127.0.0.1:{port}/0|trust=unsigned",
            "signed": f"redis://127.0.0.1:{port}/1",
        }
        for name, url in self._urls.items():
            secret = (
                {"JITCACHE_SIGNING_KEY_FILE": str(self._secret), "JITCACHE_KEYS": self._public}
                if name == "signed"
                else {}
            )
            with environment(JITCACHE_REMOTE=url, **secret):
                folder = w.ready(f"remote-{at}-{name}")
                with jitcache.Cache(folder, memory_size=0) as cache:
                    for n, key in enumerate(self._keys):
                        cache.put(key, self._payloads[n % 8])
                _flush(w, folder)
        self._names = [f"jitcache:1:-:{key.hex}" for key in self._keys]
        self._relay = Relay(w.ground.relay, f"{os.environ['XDG_RUNTIME_DIR']}/relay-{at}", port, self._names, SIZES[at])
        self.bare = Process(w.ground.redis, f"127.0.0.1:{port}")
        self.sum = Process(w.ground.sum)

    def _each(self, name: str) -> tuple[float, float]:
        """Return what each of the keys costs, and what it costs until it is in the directory."""
        import jitcache

        folder = self._w.ready(f"remote-{self._at}-{name}-{self._round}")
        puts = name in ("put", "relayed")
        remote = {} if puts else {"JITCACHE_REMOTE": self._urls[name]}
        keys = {"JITCACHE_KEYS": self._public} if name == "signed" else {}
        with environment(**remote, **keys), jitcache.Cache(folder, memory_size=0) as cache:
            cache.get(jitcache.Key(nothing=1))  # the remote is connected to
            start = time.perf_counter_ns()
            for n, key in enumerate(self._keys):
                if name == "relayed":
                    self._relay.get(n)
                if puts:
                    cache.put(key, self._payloads[n % 8])
                else:
                    assert cache.get(key) is not None
            took = (time.perf_counter_ns() - start) / 1e3 / COUNT
            said = cache.stats()["total"]  # waits for copies
            copied = (time.perf_counter_ns() - start) / 1e3 / COUNT
            # The directory was empty: what is there was stored, or came from the remote.
            if len(cache) != COUNT or said["puts"] != (COUNT if puts else 0):
                raise BenchError(
                    f"{name}: {len(cache)} of {COUNT} entries came from the remote, {said['puts']} were stored"
                )
        return took, copied

    def close(self) -> None:
        self._relay.close()

    def __call__(self) -> dict[str, float]:
        self._round += 1
        get = self.bare.ask(*self._names)[0] / 1e3 / COUNT
        digest = self.sum.ask(SIZES[self._at], COUNT)[0] / 1e3 / COUNT
        (put, _), (relayed, _), (hit, copied), (signed, _) = map(self._each, ("put", "relayed", "hit", "signed"))
        return {
            "get": get,
            "put": put,
            "floor": get + put,
            "relayed": relayed,
            "hit": hit,
            "copied": copied,
            "signed": signed,
            "beyond_unsigned": signed - hit,
            "digest": digest,
        }


def remote_hit(w: Workplace) -> Iterator[Series]:
    """A first hit of what a Redis on loopback has, checked and copied into the own directory, from Python."""
    if shutil.which("redis-server") is None:
        w.notes["not measured"]["remote hits"] = "there is no redis-server"
        return
    with redis(w) as port:
        for at in ("4k", "64k", "1m"):
            hits = _Hits(w, port, at)
            with hits.bare, hits.sum:
                yield Series(at, [Contender("jitcache", hits)], w.scale.slow)
            hits.close()


def beside_remote(w: Workplace) -> Iterator[Series]:
    """What a remote costs where it gives nothing: a hit in the own directory, and a miss while it is off."""
    at = "64k"
    n, folder = w.count(at), w.entries(at)
    nobody = f"redis://127.0.0.1:{free_port()}|trust=unsigned"
    with sockets(), w.bench() as without, environment(JITCACHE_REMOTE=nobody), w.bench() as with_:
        for c in (without, with_):
            w.corpus(c, folder, at)
        before = counters(with_)
        hits = [Ask(c, "get", 0, n, count=n) for c in (without, with_)]
        yield Series("hit", [Contender("own", hits[0]), Contender("jitcache", hits[1])], w.scale.rounds)
        # Nobody answers: it is off for a second, two, up to a minute. So many misses first.
        end = time.monotonic() + 8
        while time.monotonic() < end:
            with_.ask("miss", 0, n)
            time.sleep(0.2)
        misses = [Ask(c, "miss", 0, n, count=n) for c in (without, with_)]
        yield Series("miss", [Contender("own", misses[0]), Contender("jitcache", misses[1])], w.scale.rounds)
        check_rise("beside a remote", before, counters(with_), hits_disk=hits[1].ops, hits_remote=0)
