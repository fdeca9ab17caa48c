"""The build of jaxlib that this process uses. The version alone does not identify its compiler."""

from __future__ import annotations

import functools
from pathlib import Path

from jitcache import File, Key


@functools.lru_cache(maxsize=1)
def build() -> str:
    """Return a digest of jaxlib's files, from the digests in the list of its installed files.

    Without such a list the files are read. Raises OSError if they cannot be read.
    """
    import jaxlib

    room = Path(jaxlib.__file__).parent
    said = [line for path in sorted(room.parent.glob("jaxlib-*.dist-info/RECORD")) for line in _listed(path)]
    if said:
        return Key(record=sorted(said)).hex
    files = (path for path in sorted(room.rglob("*")) if path.is_file() and path.parent.name != "__pycache__")
    return Key({str(path.relative_to(room)): File(path) for path in files}).hex


def _listed(record: Path) -> list[bytes]:
    """Return the lines of a list that are about jaxlib's own files and have a digest: name, digest, size."""
    lines = record.read_bytes().splitlines()
    return [line for line in lines if line.startswith(b"jaxlib/") and b"sha256=" in line]
