"""A folder that is built into: builds take turns in it, and what they make appears whole.

Many may use what lies in such a folder while it is built anew: tests, and programs that have loaded
the library. So nothing there is ever written to. A build works in a draft, a folder inside; when
it has ended well, each of the draft's files is renamed to its place. Who has opened an older one
keeps that. A build that fails leaves the folder as it was.
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

#: What names of folders begin with that become files of the folder around: a build's, and a single file's.
DRAFT, PART = ".draft-", ".part-"


@contextlib.contextmanager
def draft(folder: Path) -> Iterator[Path]:
    """Wait until nobody else builds into a folder, which is made; yield an empty one whose files get there.

    The folder may be on a file system without locks: there nobody waits, and files are whole all the same.
    """
    folder = folder.absolute()  # compilers run elsewhere
    folder.mkdir(parents=True, exist_ok=True)
    with _turn(folder) as alone:
        for left in folder.glob(f"{DRAFT}*") if alone else ():  # by builds that were killed
            shutil.rmtree(left, ignore_errors=True)
        with _placed(folder, DRAFT) as inside:
            yield inside


def write(path: Path, text: str) -> None:
    """Have a file hold a text; it is not touched if it does. Nobody reads a part of it."""
    if not (path.is_file() and path.read_text() == text):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _placed(path.parent, PART) as inside:
            (inside / path.name).write_text(text)


def link(path: Path, to: Path) -> None:
    """Have a path be a link to a file, by the way from one to the other. There is no time without it."""
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
    """Hold a folder's lock, if there are locks; yield whether it is held."""
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
