"""Ports of this machine, for servers that tests and benchmarks start."""

from __future__ import annotations

import socket
import time


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Wait until somebody listens on a port, for five seconds."""
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.01)
    raise AssertionError(f"nobody listens on port {port}")
