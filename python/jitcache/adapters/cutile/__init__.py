"""cuTile's kernels in a jitcache.

    import jitcache.adapters.cutile

    jitcache.adapters.cutile.install()

From then on what cuTile would give to its compiler ``tileiras`` is looked up in a
jitcache first, by everything that the compiler looks at. It is compiled once, however
many threads and processes ask. cuTile's own cache is neither read nor written.

``docs/cutile.md`` says what is in a key and what is not cached. Importing this module
does not import cuTile. The name of an entry is the kernel's.
"""

from __future__ import annotations

from jitcache.adapters._frame import AdapterFrame

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "cutile"

_cache = AdapterFrame(KIND, "cuTile", __name__)
install = _cache.install
uninstall = _cache.uninstall
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear
