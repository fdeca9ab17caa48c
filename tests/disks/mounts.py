"""Small, full and read-only file systems. They need root, and end with the test."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path


def run(*command: object) -> None:
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, check=False)
    assert p.returncode == 0, f"{command}: {p.stderr}"


@contextlib.contextmanager
def mounted(place: Path, *command: object) -> Iterator[Path]:
    """A file system at a folder, unmounted whatever happens."""
    place.mkdir(exist_ok=True)
    run("mount", *command, place)
    try:
        yield place
    finally:
        run("umount", "-l", place)


def memory(place: Path, options: str) -> contextlib.AbstractContextManager[Path]:
    """A tmpfs; options such as size=1m and nr_inodes=24."""
    return mounted(place, "-t", "tmpfs", "-o", f"mode=0700,{options}", "tmpfs")


@contextlib.contextmanager
def disk(place: Path, image: Path, size: int) -> Iterator[Path]:
    """An ext4 of its own in a file, on a loop device."""
    with open(image, "wb") as f:
        f.truncate(size)
    run("mkfs.ext4", "-q", "-F", "-m", "0", image)
    with mounted(place, "-o", "loop", image):
        yield place


def fill(folder: Path) -> Path:
    """Take all the space that is left; return the file that has it."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as f, contextlib.suppress(OSError):
        while True:
            f.write(bytes(4096))
    return ballast
