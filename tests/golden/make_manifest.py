"""Writes manifest.jcbook from docs/format.md, sharing no code with the package."""

from __future__ import annotations

import struct
from pathlib import Path

Entry = tuple[bytes, int, int]  # path, first number of the stamp, byte of the digest


class Writer:
    """The bytes of a list; a path is written as what differs from the one before."""

    def __init__(self) -> None:
        self.data = b""
        self.last = b""

    def path(self, path: bytes) -> None:
        differ = (i for i, (a, b) in enumerate(zip(self.last, path)) if a != b)
        shared = next(differ, min(len(self.last), len(path)))
        self.data += struct.pack("<HH", shared, len(path) - shared) + path[shared:]
        self.last = path

    def entries(self, entries: list[Entry]) -> None:
        self.data += struct.pack("<I", len(entries))
        for path, first, digest in entries:
            self.path(path)
            self.data += struct.pack("<QQQqqqQ", *range(first, first + 7)) + bytes([digest]) * 32

    def paths(self, paths: list[bytes], per_item: int) -> None:
        self.data += struct.pack("<I", len(paths) // per_item)
        for path in paths:
            self.path(path)


def manifest(
    payload: bytes, files: list[Entry], folders: list[Entry], absent: list[bytes], aliases: list[bytes]
) -> bytes:
    w = Writer()
    w.data = struct.pack("<I", len(payload)) + payload
    w.entries(files)
    w.entries(folders)
    w.paths(absent, 1)
    w.paths(aliases, 2)
    return w.data


LISTS = [
    manifest(
        b"what the caller\0wants",
        [(b"inc/a.h", 100, 0xAA), (b"inc/sub/b.h", 1 << 40, 0xBB), (b"/usr/include/\xff.h", 7, 0xCC)],
        [(b"inc", 1000, 0xDD)],
        [b"a.h", b"a.h.stdh"],
        [b"x/../inc", b"inc"],
    ),
    manifest(b"", [], [], [], []),
]

manifests = b"jcbook\0\2" + struct.pack("<I", len(LISTS)) + b"".join(struct.pack("<I", len(x)) + x for x in LISTS)
Path(__file__).with_name("manifest.jcbook").write_bytes(manifests)
