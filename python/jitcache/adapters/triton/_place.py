"""Places: Triton and programs on top of it take paths, so the files of an entry are put where they look for them."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# How often a folder that another process removes is made again: Triton's own manager
# removes every folder that it finds empty, up to the root (os.removedirs).
_ATTEMPTS = 100

_private: tuple[int, str] | None = None  # the id of this process, and its own folder


def place(folder: str, name: str, data: bytes) -> str:
    """Put a file with these bytes into a folder, and return its path.

    A file that has them already is left alone: others may have it open. Any other file
    is replaced atomically, so that no reader ever sees a part. Raises OSError if that
    is not possible.
    """
    path = os.path.join(folder, name)
    if not _holds(path, data):
        _make(folder, path, data, os.replace)
    return path


def folder_of(owner: str, folder: str) -> str:
    """Return the folder for an owner's files: this one, or one next to it if this one is another owner's.

    Two kernels may have the same key of Triton's, which names the folder. The first makes a
    file that says whose the folder is, so that no kernel puts files there between another's
    lookup and its use of the files. Raises OSError if that is not possible.
    """
    owners = os.path.join(os.path.dirname(folder), ".jitcache-owners")
    path = os.path.join(owners, os.path.basename(folder))
    if not os.path.exists(path):
        _make(owners, path, owner.encode(), os.link)
    return folder if _holds(path, owner.encode()) else f"{folder}.{owner}"


def private_folder() -> str:
    """Return a folder of this process's own, for files whose usual folder cannot be written.

    It is removed when the process ends.
    """
    global _private
    if _private is None or _private[0] != os.getpid():
        made = tempfile.mkdtemp(prefix="jitcache-triton-")
        _private = os.getpid(), made
        atexit.register(_remove, *_private)
    return _private[1]


def _remove(process: int, folder: str) -> None:
    if process == os.getpid():  # not in a forked child
        shutil.rmtree(folder, ignore_errors=True)


def _holds(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb", 0) as f:
            return os.fstat(f.fileno()).st_size == len(data) and f.read(len(data) + 1) == data
    except OSError:
        return False


def _make(folder: str, path: str, data: bytes, put: Callable[[str, str], None]) -> None:
    """Write a whole file, and then put it in its place with os.replace, or with os.link if there must be none yet."""
    temporary = os.path.join(folder, f".jitcache.{os.getpid()}.{os.urandom(8).hex()}")
    for attempt in range(_ATTEMPTS):
        try:
            f = open(temporary, "xb", 0)  # noqa: SIM115 - closed below
            break
        except FileNotFoundError:
            if attempt == _ATTEMPTS - 1:
                raise
            os.makedirs(folder, exist_ok=True)
    try:
        with f:
            view = memoryview(data)
            while view:
                view = view[f.write(view) :]
        with contextlib.suppress(FileExistsError):  # another process was first
            put(temporary, path)
    finally:
        with contextlib.suppress(OSError):  # os.replace has moved it already
            os.unlink(temporary)
