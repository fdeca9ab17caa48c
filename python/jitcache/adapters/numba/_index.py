"""A replacement for Numba's index files, for tools that read these."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitcache import Cache


class Index:
    """Replaces an index file for tools that look into Numba's caches. A jitcache has no such file."""

    def __init__(self, cache: Cache, function: Any, kind: str) -> None:
        self._cache = cache
        self._code = function.__code__
        self._kind = kind
        stem = os.path.splitext(os.path.basename(self._code.co_filename))[0]
        version = f"py{sys.version_info[0]}{sys.version_info[1]}{sys.abiflags}"
        name = f"{stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._index_name = f"{name}-{self._code.co_firstlineno}.{version}.nbi"

    def _load_index(self) -> dict[tuple[str, tuple[str, ...], str], str]:
        """Return the path of each entry of the function, by types, CPU and key."""
        here = (self._code.co_filename, self._code.co_firstlineno)
        found = {}
        for entry in self._cache.entries(self._kind):
            a = entry["attributes"]
            if (a.get("file"), a.get("line")) == here:
                found[a["types"], tuple(a["cpu"]), entry["key"]] = entry["path"]
        return found
