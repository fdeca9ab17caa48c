"""Module files: the content of the files that code is from, for keys of functions."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from typing import Any

from ._code import Unkeyable

# A file that has changed since this process started may not be what the process has imported.
# The kernel counts in jiffies and rounds down; an interpreter takes longer to come to its first import.
_JIFFY = 1.0 / os.sysconf("SC_CLK_TCK")
_READINGS = 5


def _clock_at_boot() -> float:
    """Return what the clock of the file system said when the machine was booted.

    A process may have to wait between two clocks, for longer than its files are older
    than itself. What it reads then is too early, and never too late.
    """
    return max(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) for _ in range(_READINGS))


def _started() -> float:
    """When this process, or the one that it is a fork of, started, by the clock of the file system."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return _clock_at_boot() + ticks * _JIFFY + _JIFFY
    except (OSError, AttributeError, ValueError, IndexError):  # no such kernel: nothing is known to be unchanged
        return 0.0


_START = _started()
_digests: dict[str, tuple[tuple[int, ...], bytes]] = {}  # of files, with the stamps that they have it by


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """Return what stat says of a file that is another for another content."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _holder(path: str) -> tuple[str, os.stat_result]:
    """Return a path, or the archive that it is inside of, and what stat says of it. Raises Unkeyable without a file."""
    inside = path
    while True:
        try:
            found = os.stat(path)
        except OSError:
            above = os.path.dirname(path)
            if above in ("", path):
                break
            path = above
            continue
        if stat.S_ISREG(found.st_mode):
            return path, found
        break
    raise Unkeyable("no file", inside)


def is_older_than_process(found: os.stat_result) -> bool:
    """Return whether a file is what it was when this process started, and so what the process has loaded of it."""
    return found.st_ctime <= _START


def content(path: str, *, imported: bool = False) -> bytes:
    """Return the digest of a file, that of the archive if the path is inside of one.

    ``imported``: what this process has imported from it is meant. Raises Unkeyable
    if there is no file, or if it may not be that any more.
    """
    path, found = _holder(path)
    if imported and not is_older_than_process(found):
        raise Unkeyable("file changed since the process started", path)
    stamp = stamp_of(found)
    known = _digests.get(path)
    if known is None or known[0] != stamp:
        with open(path, "rb") as file:
            known = _digests[path] = (stamp, hashlib.blake2b(file.read(), digest_size=16).digest())
    return known[1]


def has_file(path: str) -> bool:
    """Return whether code of this file name has a file, or an archive, that it is from."""
    try:
        return not path.startswith("<") and _holder(os.path.abspath(path)) is not None
    except Unkeyable:
        return False


def file_of(module: Any) -> str | None:
    """Return the file of a module, of which a compiled one may have none."""
    path = getattr(module, "__file__", None)
    return str(path) if path else None


def _find(name: str) -> Any:
    """Return the specification of a module which is not imported, and import nothing."""
    places: Any = None
    spec: Any = None
    for depth in range(name.count(".") + 1):
        part = ".".join(name.split(".")[: depth + 1])
        finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
        spec = next((s for s in (find(part, places) for find in finders if find) if s is not None), None)
        if spec is None:
            return None
        places = spec.submodule_search_locations
    return spec


def is_there(name: str) -> bool:
    """Return whether a module is imported or would be found, and import nothing."""
    return sys.modules[name] is not None if name in sys.modules else _find(name) is not None


def content_of_module(name: str) -> bytes:
    """Return the digest of a module's file. Raises Unkeyable if it has none."""
    module = sys.modules.get(name)
    path = getattr(_find(name), "origin", None) if module is None else file_of(module)
    if path is None:
        raise Unkeyable("no file", f"module {name}")
    return content(os.path.abspath(path), imported=module is not None)
