"""Ports of this machine, for servers that tests and benchmarks start."""

from __future__ import annotations

import random
import socket
import subprocess
import time

#: Ports below those that Linux gives to connections (ip_local_port_range begins at 32768): there a connection of a
#: test beside this one takes a port between the moment when it was seen to be free and the server's start.
FIRST, LAST = 16_384, 32_767
#: How long a server may take until it listens: seconds, where each core is busy with two compilers.
LONG_SECONDS = 60


def free_port() -> int:
    """Return a port that nobody listens on."""
    while True:
        port = random.SystemRandom().randint(FIRST, LAST)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server listens on its port. One that ends instead fails at once, with its status."""
    end = time.monotonic() + LONG_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert server.poll() is None, f"{server.args!r} ended with {server.returncode} before it listened"
            assert time.monotonic() < end, f"nobody listens on port {port}"
            time.sleep(0.01)
