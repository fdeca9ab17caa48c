"""A persistent compile cache for programs that compile while they run.

    import jitcache

    cache = jitcache.default_cache()
    key = jitcache.Key(source=src, options=["-O3"], arch="sm_90").named("saxpy")
    code = cache.get_or_compile(key, lambda: compile(src))

The work is done by ``libjitcache.so``, which is loaded when it is first needed:
importing this package loads nothing and starts no thread. If it cannot be
loaded the cache always misses, one warning says why (logger ``jitcache``), and
``jitcache.available()`` tells.
"""

from __future__ import annotations

from ._cache import Cache
from ._default import default_cache
from ._entry import Entry
from ._errors import CompileError, DriverError, Error, LibraryError, RefusedError
from ._key import File, Key, Tool
from ._lease import Lease
from ._library import available

__version__ = "0.1.0"

__all__ = [
    "Cache",
    "CompileError",
    "DriverError",
    "Entry",
    "Error",
    "File",
    "Key",
    "Lease",
    "LibraryError",
    "RefusedError",
    "Tool",
    "available",
    "default_cache",
]
