"""Which files of the checkout are opened while an area runs: what its declaration has to cover.

The kernel tells it (fanotify, for root), so that no process is traced: areas whose tests
trace would run unobserved under another tracer. Who opens sources of Go or C is a compiler;
what stands on these is seen by the programs that were built of them.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
import struct
import threading
from collections.abc import Iterable
from pathlib import Path

from .rooms import ROOT

#: From linux/fanotify.h: a class without permission events, a queue and marks without bounds, close on exec; opens below a mount.
_INIT = 0x01 | 0x10 | 0x20
_MARK_ADD_MOUNT, _OPEN = 0x01 | 0x10, 0x20
_EVENT = struct.Struct("=IBBHQii")

#: The rooms of what is built, by the names of the files.
BUILT = {
    "libjitcache.so": "capi",
    "libjitcache.so.1": "capi",
    "jitcache": "cli/jitcache",
    "jitcache-bundle": "cli/bundles",
    "jitcache-observe": "observe/tracer",
    "jitcache-nvrtc": "cuda/worker/program",
    "jitcache-storage": "storage/jitcache-storage",
}


class Opened:
    """A context in which opens are noted. Raises OSError where the kernel does not tell, as to who is not root."""

    def __init__(self, folder: Path = ROOT) -> None:
        self.folder = str(folder.resolve()) + "/"
        self.paths: set[str] = set()
        self._libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self) -> Opened:
        self._fd = self._libc.fanotify_init(_INIT, os.O_RDONLY | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "fanotify_init")
        folder = self.folder.encode()
        if self._libc.fanotify_mark(self._fd, _MARK_ADD_MOUNT, ctypes.c_uint64(_OPEN), -100, folder) != 0:
            error = ctypes.get_errno()
            os.close(self._fd)
            raise OSError(error, "fanotify_mark")
        self._ended, self._end = os.pipe()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._end)
        self._reader.join()
        os.close(self._ended)
        os.close(self._fd)

    def _read(self) -> None:
        own = os.getpid()
        while True:
            ready, _, _ = select.select([self._fd, self._ended], [], [])
            if self._fd not in ready:
                return
            data = os.read(self._fd, 1 << 16)
            while len(data) >= _EVENT.size:
                length, _, _, _, _, fd, pid = _EVENT.unpack_from(data)
                data = data[length:]
                if fd < 0:
                    raise RuntimeError("the kernel has lost events")
                try:
                    path = os.readlink(f"/proc/self/fd/{fd}")
                finally:
                    os.close(fd)
                if path.startswith(self.folder) and pid != own:
                    self.paths.add(path[len(self.folder) :].removesuffix(" (deleted)"))


def refused() -> str:
    """Return why opens cannot be noted, "" if they can."""
    try:
        with Opened():
            return ""
    except OSError as e:
        return str(e)


def room_of_built(path: str) -> str | None:
    """Return the room of a built program or library, None for other files below build/."""
    return BUILT.get(path.rpartition("/")[2]) if path.startswith(("build/", "python/jitcache/")) else None


def source_of(path: str) -> str:
    """Return the source of a compiled module of Python."""
    found = re.fullmatch(r"(.*/)?__pycache__/(\w+)\.cpython-\d+(?:-pytest-[\d.]+)?\.(?:opt-\d\.)?pyc(?:\.\d+)?", path)
    return f"{found[1] or ''}{found[2]}.py" if found else path


def reads(paths: Iterable[str], tracked: frozenset[str]) -> dict[str, str]:
    """Return what was opened that a declaration has to cover: files and built programs, built ones with their rooms."""
    found: dict[str, str] = {}
    for path in paths:
        source = source_of(path)
        if (room := room_of_built(path)) is not None:
            found[path] = room
        elif source in tracked and not source.endswith((".go", ".c", ".h", ".S")):
            found[source] = ""
    return found
