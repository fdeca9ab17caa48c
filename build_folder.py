"""A folder to build into: builds take turns, and each file appears when it is complete.

Tests, and programs that have loaded the library, may use the files of such a folder during a build. So
no file there is ever written to. A build works in a draft, which is a folder inside. When it succeeds,
each of the draft's files is renamed to its place; programs that have opened an older file keep that. A
build that fails leaves the folder as it was.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import build_steps

#: The file whose lock a build holds.
LOCK = ".building"

#: How the names of temporary folders begin: a build's draft, and one for a single file.
DRAFT, PART = ".draft-", ".part-"


@contextlib.contextmanager
def draft(folder: Path) -> Iterator[Path]:
    """Wait until nobody else builds into a folder; yield an empty folder whose files are then moved there.

    The folder is made if it does not exist. On a file system without locks nobody waits, but files are
    still complete when they appear.
    """
    folder = folder.absolute()  # compilers run in another working directory
    folder.mkdir(parents=True, exist_ok=True)
    with _turn(folder) as alone:
        for left in folder.glob(f"{DRAFT}*") if alone else ():  # leftovers of killed builds
            shutil.rmtree(left, ignore_errors=True)
        with _placed(folder, DRAFT) as inside:
            yield inside


def write(path: Path, text: str) -> None:
    """Write a text to a file, unless the file has it already. Nobody can read a part of it."""
    if not (path.is_file() and path.read_text() == text):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _placed(path.parent, PART) as inside:
            (inside / path.name).write_text(text)


def link(path: Path, to: Path) -> None:
    """Make a path a relative link to a file. The path exists at any time."""
    target = os.path.relpath(to, path.parent)
    if not (path.is_symlink() and os.readlink(path) == target):
        with _placed(path.parent, PART) as inside:
            (inside / path.name).symlink_to(target)


@contextlib.contextmanager
def _placed(folder: Path, prefix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix=prefix, dir=folder) as name:
        yield Path(name)
        for path in sorted(Path(name).iterdir()):
            path.replace(folder / path.name)


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[bool]:
    """Hold a folder's lock, if the file system has locks; yield whether it is held."""
    with (folder / LOCK).open("w") as lock:
        held = True
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with build_steps.step(f"waiting for another build into {folder}"):
                fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            held = False
        yield held
