"""Module files: the content of the files that code was loaded from, for keys of functions."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from typing import TYPE_CHECKING, Any

from ._code import Unkeyable

if TYPE_CHECKING:
    from collections.abc import Sequence

# If a file has changed since this process started, the process may have imported its old content.
# The kernel gives the start in jiffies, rounded down, so one jiffy is added; the interpreter takes
# longer than that until its first import.
_JIFFY = 1.0 / os.sysconf("SC_CLK_TCK")
_READINGS = 5

#: The time stamps of a file that is this young prove nothing: a kernel's clock ticks every 4 to 10 ms, and the clocks
#: of file servers differ by more.
YOUNG_NS = 2 * 10**9


def _clock_at_boot() -> float:
    """Return the time of the file system's clock when the machine was booted.

    The process may be suspended between the readings of the two clocks, for longer
    than its files are older than itself. Such a reading is too small, so the largest
    of several is taken.
    """
    return max(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) for _ in range(_READINGS))


def _started() -> float:
    """Return the start of this process, or of the one that it was forked from, by the file system's clock."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return _clock_at_boot() + ticks * _JIFFY + _JIFFY
    except (OSError, AttributeError, ValueError, IndexError):  # the kernel does not tell: no file counts as unchanged
        return 0.0


_START = _started()
_digests: dict[str, tuple[tuple[int, ...], bytes]] = {}  # by path: the stamp of a file, and its digest


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """Return those fields of a stat that change when the content of a file changes."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def proves(stamp: Sequence[int], read_ns: int) -> bool:
    """Return whether time stamps, which end a stamp, prove the content that was read at that time or later."""
    return max(stamp[-2:]) + YOUNG_NS < read_ns


def _holder(path: str) -> tuple[str, os.stat_result]:
    """Return a file, or the archive that a path leads into, and its stat. Raises Unkeyable if there is neither."""
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
    """Return whether a file is unchanged since this process started, so that the process has loaded this content."""
    return found.st_ctime <= _START


def content(path: str, *, imported: bool = False) -> bytes:
    """Return the digest of a file, or of the archive that the path leads into.

    ``imported``: the content that this process has imported is wanted. Raises Unkeyable
    if there is no file, or if it may have changed since it was imported.
    """
    path, found = _holder(path)
    if imported and not is_older_than_process(found):
        raise Unkeyable("file changed since the process started", path)
    stamp = stamp_of(found)
    known = _digests.get(path)
    if known is not None and known[0] == stamp:
        return known[1]
    began = time.time_ns()
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).digest()[:16]
    if proves(stamp, began):
        _digests[path] = (stamp, digest)
    return digest


def has_file(path: str) -> bool:
    """Return whether the file name of a code object leads to a file or into an archive."""
    try:
        return not path.startswith("<") and _holder(os.path.abspath(path)) is not None
    except Unkeyable:
        return False


def file_of(module: Any) -> str | None:
    """Return the file of a module; None if it has none, like built-in modules."""
    path = getattr(module, "__file__", None)
    return str(path) if path else None


def _find_module(name: str) -> Any:
    """Return the spec of a module that is not imported, without an import."""
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


def content_of_module(name: str) -> bytes:
    """Return the digest of a module's file. Raises Unkeyable if it has none."""
    module = sys.modules.get(name)
    path = getattr(_find_module(name), "origin", None) if module is None else file_of(module)
    if path is None:
        raise Unkeyable("no file", f"module {name}")
    return content(os.path.abspath(path), imported=module is not None)
