"""Which build of jaxlib this process has: its version says nothing of the compiler that is in it."""

from __future__ import annotations

import functools
from pathlib import Path

from jitcache import File, Key


@functools.lru_cache(maxsize=1)
def build() -> str:
    """Return a digest of jaxlib's files, by what the list of its installed files says of them.

    Without such a list they are read, each time. Raises OSError if they cannot be.
    """
    import jaxlib

    room = Path(jaxlib.__file__).parent
    said = [line for path in sorted(room.parent.glob("jaxlib-*.dist-info/RECORD")) for line in _listed(path)]
    if said:
        return Key(record=sorted(said)).hex
    files = (path for path in sorted(room.rglob("*")) if path.is_file() and path.parent.name != "__pycache__")
    return Key({str(path.relative_to(room)): File(path) for path in files}).hex


def _listed(record: Path) -> list[bytes]:
    """Return the lines of a list about jaxlib's own files that have a digest: name, digest, size."""
    lines = record.read_bytes().splitlines()
    return [line for line in lines if line.startswith(b"jaxlib/") and b"sha256=" in line]
