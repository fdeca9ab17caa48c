"""Locations: the machine and the directory of a cache, by which ranks tell whether they share one."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from ._cache import Cache

_directories: WeakKeyDictionary[Cache, str] = WeakKeyDictionary()


def location_of(cache: Cache) -> tuple[Any, ...] | None:
    """Return what identifies a cache's directory among the ranks; None if there is no cache."""
    directory = _directories.get(cache)
    if directory is None:
        stats = cache.stats()
        if not stats:
            return None
        directory = _directories[cache] = str(stats.get("directory", ""))
    if not directory:
        return (machine(), os.getpid())  # a cache in memory is this process's own
    try:
        status = os.stat(directory)
    except OSError:  # the directory was just removed
        return (machine(), directory)
    if is_network(status.st_dev):
        return (directory,)  # another machine may see other numbers of device and inode
    return (machine(), status.st_dev, status.st_ino)


@functools.cache
def machine() -> str:
    """Return what identifies this machine; its containers have the same, as they see the same inodes."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return os.uname().nodename


# As /proc/self/mountinfo calls them.
_NETWORK = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "gfs2", "gpfs", "kafs", "lustre", "nfs", "nfs4", "ocfs2", "orangefs",
    "panfs", "pvfs2", "smb", "smb2", "smb3",
})  # fmt: skip


@functools.lru_cache(maxsize=64)
def is_network(device: int) -> bool:
    """Return whether several machines may see a file system. An unknown one counts as this machine's."""
    said = os.environ.get("JITCACHE_FS")
    if said in ("local", "network"):
        return said == "network"
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
            fields = [line.split() for line in f]
    except OSError:
        return False
    kinds = [row[row.index("-") + 1] for row in fields if len(row) > 2 and row[2] == number and "-" in row]
    return any(kind in _NETWORK or kind.partition(".")[0] == "fuse" for kind in kinds)
