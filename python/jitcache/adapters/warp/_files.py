"""Files of a module: packed into one entry, and placed in Warp's folder."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The first line of an entry is a list of names and sizes; the files follow in that order.


def pack(files: dict[str, bytes]) -> bytes:
    """Return files packed as an entry."""
    names = sorted(files)
    return b"".join([json.dumps([[n, len(files[n])] for n in names]).encode(), b"\n", *(files[n] for n in names)])


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files of an entry. Raises ValueError for other bytes."""
    head, found, rest = data.partition(b"\n")
    files: dict[str, bytes] = {}
    at = 0
    for name, size in json.loads(head):
        if name != os.path.basename(name) or name in ("", ".", ".."):
            raise ValueError(f"{name!r}: not a plain file name")
        files[name] = rest[at : at + size]
        at += size
    if not found or at != len(rest):
        raise ValueError("sizes do not add up")
    return files


def read(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def place(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder, and replace whatever has their names there. Raises OSError.

    A file that is already there with the same bytes is left alone: other processes may be reading it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wrong = {name: data for name, data in files.items() if not _is(folder / name, data)}
    if not wrong:
        return
    with tempfile.TemporaryDirectory(prefix=".jitcache-", dir=folder.parent) as new:
        for name, data in wrong.items():
            path = os.path.join(new, name)
            with open(path, "wb") as f:
                f.write(data)
            os.replace(path, folder / name)


def _is(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False
