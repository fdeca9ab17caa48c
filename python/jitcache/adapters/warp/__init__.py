"""Warp's modules in a jitcache.

    import jitcache.adapters.warp

    jitcache.adapters.warp.install()

From then on a module that Warp would compile is looked up in a jitcache, and
compiled once, however many threads and processes ask. Its files are put where Warp
keeps its own.

``docs/warp.md`` says what is in a key and what is not cached. Importing this module
does not import Warp. The name of an entry is that of Warp's module.
"""

from __future__ import annotations

from jitcache.adapters._frame import AdapterFrame

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "warp"

_cache = AdapterFrame(KIND, "Warp", __name__)
install = _cache.install
uninstall = _cache.uninstall
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear
