"""What a server of HTTP may say, objects that are damaged, and a Redis that is full: what each costs beside a local miss.

docs/reliability.md has the figures, as this prints them (pytest -s).
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from processes import check
from remotes import Machine, Redis
from test_faults import LOOKUPS, STORES, heals
from test_remote import UNSIGNED, machine

__all__ = ["machine"]  # a fixture

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Server(http.server.ThreadingHTTPServer):
    """Keeps what is put there, and counts what is asked for. It may be told to answer otherwise."""

    daemon_threads = True
    request_queue_size = 64
    connections = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.values: dict[str, bytes] = {}
        self.status, self.headers, self.asked = 200, {}, 0  # type: int, dict[str, str], int
        self.damage: Callable[[bytes], bytes] = bytes
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in two packets would be waited for, by Nagle

    def do_GET(self) -> None:
        body = self.server.values.get(self.path)
        self.server.asked += self.command == "GET"
        if self.server.status != 200:
            self.answer(self.server.status, b"<html>no</html>", self.server.headers)
        elif body is None:
            self.answer(404, b"<html>not here</html>", {})
        else:
            self.answer(200, self.server.damage(body), {})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        value = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.status == 200:
            self.server.values[self.path] = value
        self.answer(201 if self.server.status == 200 else self.server.status, b"", {})

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    s = Server()
    yield s
    s.shutdown()
    s.server_close()


def looks(m: Machine, change: Callable[[], None]) -> tuple[float, int, str]:
    """Look 40 keys up, after a change that comes when the helper has answered: seconds, how many came, what was said."""
    ready = m.folder / "ready"
    path = os.pathsep.join(sys.path)
    env = {**os.environ, "PYTHONPATH": path, **m.env, "READY": str(ready)}
    p = subprocess.Popen(
        [sys.executable, "-c", LOOKUPS], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    m.started.append(p)
    end = time.monotonic() + 30
    while not ready.exists():
        assert time.monotonic() < end and p.poll() is None
        time.sleep(0.01)
    change()
    ready.with_name("ready.go").touch()
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0, err
    took, came = json.loads(out)
    return took, came, err


def local(m: Machine) -> float:
    """Look the same up in a directory that has the first alone, without a remote."""
    m.env["JITCACHE_REMOTE"] = ""
    check("import jitcache; jitcache.Cache().put(jitcache.Key(source=0), b'0' * 5000)", env=m.env)
    return looks(m, lambda: None)[0]


def flipped(value: bytes) -> bytes:
    return value[:-20] + bytes([value[-20] ^ 1]) + value[-19:]


ANSWERS: dict[str, tuple[int, dict[str, str]]] = {
    "401": (401, {}),
    "403": (403, {}),
    "404": (404, {}),
    "500": (500, {}),
    "503": (503, {"Retry-After": "2"}),
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "html": lambda _: b"<html>sign in</html>",
    "truncated": lambda value: value[: len(value) // 2],
    "flipped": flipped,
    "empty": lambda _: b"",
}


@pytest.mark.control("onestops", rows=["html"])
@pytest.mark.parametrize("fault", [*ANSWERS, *DAMAGES])
def test_answer_that_is_no_entry_costs_its_lookup(machine: Callable[..., Machine], server: Server, fault: str) -> None:
    """A server that refuses is left alone; one that has no entry, or a damaged one, is asked for each; then it is well again."""
    one, two, alone = (machine(server.url + UNSIGNED) for _ in range(3))
    check(STORES, env=one.env)
    one.sent()

    def change() -> None:
        server.asked = server.connections = 0
        server.status, server.headers = ANSWERS.get(fault, (200, {}))
        server.damage = DAMAGES.get(fault, bytes)

    took, came, err = looks(two, change)
    asked = server.asked
    print(
        f"figure {fault}: {took:.3f} s for 40 lookups and {asked} requests over {server.connections} connections, beside {local(alone):.3f} s without a remote"
    )
    assert came == 0
    said = err.splitlines()
    assert len(said) <= 2, "one line, and one of a budget that is spent"
    assert all(line.startswith("remote http://") for line in said)
    if fault == "404" or fault in DAMAGES:
        assert 5 < asked <= 40 + 1, "one each, and what the program compiles, as far as the budget goes"
    else:
        assert asked <= 5
    server.status, server.damage = 200, bytes
    assert heals(two)


def test_redis_that_is_full_serves_and_takes_nothing(machine: Callable[..., Machine], tmp_path: Path) -> None:
    redis = Redis(tmp_path, "--maxmemory-policy", "noeviction")
    try:
        one, two = (machine(redis.url + UNSIGNED) for _ in range(2))
        one.compile("a")
        one.sent()
        redis.say("CONFIG", "SET", "maxmemory", "100kb")  # it has ten times as much to begin with
        began = time.monotonic()
        assert two.compile("a", "b") == "[1, 1]"
        took, began = time.monotonic() - began, time.monotonic()
        two.compile("c", "d", JITCACHE_REMOTE="")
        print(
            f"figure full Redis: {took:.2f} s for a process with two keys, {time.monotonic() - began:.2f} s without a remote"
        )
        assert two.outboxes(), "what could not be sent waits"
        redis.say("CONFIG", "SET", "maxmemory", "0")
        two.sent(60)
        assert len([n for n in redis.names() if n.startswith("jitcache:")]) == 2
    finally:
        redis.stop()
