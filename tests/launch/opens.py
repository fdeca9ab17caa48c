"""Who opens files: the kernel tells."""

from __future__ import annotations

import ctypes
import os


class Opens:
    """How often files are opened, by inotify."""

    def __init__(self, *paths: str) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK)
        for path in paths:
            assert self._libc.inotify_add_watch(self._fd, os.fsencode(os.path.realpath(path)), 0x20) >= 0

    def count(self) -> int:
        n = 0
        while True:
            try:
                n += len(os.read(self._fd, 1 << 16)) // 16  # a watch of a file has no names
            except BlockingIOError:
                return n

    def close(self) -> None:
        os.close(self._fd)
