"""CuPy's kernels in a jitcache.

    import jitcache.adapters.cupy

    jitcache.adapters.cupy.install()

From then on a kernel that CuPy would compile with NVRTC is looked up in a jitcache,
by everything that its compile looks at. It is compiled once, however many threads and
processes ask.

``docs/cupy.md`` says what is in a key and what is not cached. Importing this module
does not import CuPy. The name of an entry contains its first kernel's.
"""

from __future__ import annotations

from jitcache.adapters._frame import AdapterFrame

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "cupy"

_cache = AdapterFrame(KIND, "CuPy", __name__)
install = _cache.install
uninstall = _cache.uninstall
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear
