"""Lists: which entries a cache has of Numba's functions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from jitcache import Key

if TYPE_CHECKING:
    from jitcache import Cache


def entries(cache: Cache, kind: str) -> list[dict[str, Any]]:
    """Return what ``jitcache ls`` prints of the entries of a kind, with their attributes."""
    directory = cache.stats().get("directory")
    if not directory:
        return []
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "jitcache", "-directory", directory, "ls", "-json", "-kind", kind]
    out = subprocess.run(  # noqa: S603 - this package's own command
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=False
    ).stdout
    rows: list[dict[str, Any]] = json.loads(out or b"[]")
    found = []
    for row in rows:
        entry = cache.entry(Key.from_hex(row["key"]))
        if entry is not None:
            found.append({**row, "attributes": entry.attributes})
    return found


class Index:
    """What tools that look into Numba's caches find in place of an index file, of which there is none."""

    def __init__(self, cache: Cache, function: Any, kind: str) -> None:
        self._cache = cache
        self._code = function.__code__
        self._kind = kind
        stem = os.path.splitext(os.path.basename(self._code.co_filename))[0]
        version = f"py{sys.version_info[0]}{sys.version_info[1]}{sys.abiflags}"
        name = f"{stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._index_name = f"{name}-{self._code.co_firstlineno}.{version}.nbi"

    def _load_index(self) -> dict[tuple[str, tuple[str, ...], str], str]:
        """Return types, CPU and key of each entry of the function."""
        here = (self._code.co_filename, self._code.co_firstlineno)
        found = {}
        for entry in entries(self._cache, self._kind):
            a = entry["attributes"]
            if (a.get("file"), a.get("line")) == here:
                found[a["types"], tuple(a["cpu"]), entry["key"]] = entry["path"]
        return found
