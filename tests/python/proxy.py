"""A proxy in front of a server: it counts the traffic, and delays or breaks it as networks do."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading
import time
from typing import NamedTuple


class Counted(NamedTuple):
    """The traffic so far: commands of Redis and bytes to the server, bytes from it, and connections."""

    commands: int
    sent: int
    received: int
    connections: int

    def since(self, before: Counted) -> Counted:
        return Counted(*(now - then for now, then in zip(self, before)))


#: A command is an array of bulk strings. No value of these tests looks like one.
COMMAND = re.compile(rb"\*\d+\r\n\$\d+\r\n([a-zA-Z]+)\r\n")


class Proxy:
    """Listens on a port of its own. Its faults may be changed at any time, also for open connections."""

    def __init__(self, port: int) -> None:
        self.to, self.fault, self.commands = port, "", []
        self.requests = 0  # sends of clients: one that waits for an answer sends once
        self.seconds = 5.0  # of latency
        self._sent = self._received = self._connections = 0
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def counted(self) -> Counted:
        return Counted(len(self.commands), self._sent, self._received, self._connections)

    def cut(self) -> None:
        """Reset all connections."""
        with self._lock:
            for s in self._open:
                _reset(s)
            self._open.clear()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # a thread in accept would keep it open
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                _reset(client)
                continue
            with self._lock:
                self._connections += 1
                self._open |= {client, server}
            for pair, up in (((client, server), True), ((server, client), False)):
                threading.Thread(target=self._pass, args=(*pair, up), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, up: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if up:
                    self.requests += 1
                    self._sent += len(data)
                    self.commands += [m.decode().upper() for m in COMMAND.findall(data)]
                else:
                    self._received += len(data)
                self._deliver(sink, data, up)
        _reset(source)
        _reset(sink)

    def _deliver(self, sink: socket.socket, data: bytes, up: bool) -> None:
        """The faults are those of the way back to the client."""
        fault = "" if up else self.fault
        if fault == "latency":
            time.sleep(self.seconds)
        elif fault == "hole":
            return
        elif fault == "reset":
            sink.sendall(data[: len(data) // 2])
            _reset(sink)
            return
        elif fault == "trickle":
            for n in range(len(data)):
                sink.sendall(data[n : n + 1])
                time.sleep(1)
                if self.fault != fault:
                    sink.sendall(data[n + 1 :])
                    return
            return
        elif fault == "noise":
            data = bytes(255 - b for b in data)
        sink.sendall(data)


def _reset(s: socket.socket) -> None:
    """Close it in a way that the other end sees as a reset."""
    with contextlib.suppress(OSError):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.shutdown(socket.SHUT_RDWR)
    s.close()
