"""A persistent compile cache for programs that compile while they run.

    import jitcache

    cache = jitcache.default_cache()
    key = jitcache.Key(source=src, options=["-O3"], arch="sm_90").named("saxpy")
    code = cache.get_or_compile(key, lambda: compile(src))

    @jitcache.memoize           # the key is the arguments and the code
    def generate(template: str, size: int) -> bytes: ...

Where to begin:

- ``Cache`` and ``default_cache``: lookups; one compile, however many threads,
  processes and coroutines ask; ``key in cache``, ``cache[key]``, ``len``, iteration.
- ``Key``, with ``File`` and ``Tool``: what a result depends on.
- ``memoize``: functions whose results are kept.
- ``jitcache.native``: C, C++ and Cython. ``jitcache.cuda``: CUDA through NVRTC.
  ``jitcache.mpi``: one compile for an MPI job.
- ``jitcache.adapters``: ``cuda_core``, ``cupy``, ``cute_dsl``, ``cutile``, ``jax``,
  ``numba``, ``torch``, ``triton``, ``underworld3`` and ``warp``, each in place of its
  framework's cache.
- ``python -m jitcache``, or ``jitcache``: the command.

``libjitcache.so`` does the work. It is loaded when it is first needed: importing
this package loads no library and starts no thread. If it cannot be loaded, every
lookup misses; one warning (logger ``jitcache``) and ``jitcache.available()`` say why.
"""

from __future__ import annotations

from ._version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._cache import Cache
    from ._default import default_cache
    from ._entry import Entry
    from ._errors import CompileError, DriverError, Error, LibraryError, RefusedError
    from ._key import File, Key, Tool
    from ._lease import Lease
    from ._library import available
    from ._memoize.decorator import memoize
    from ._memoize.memoized import Memoized as Memoized

# Memoized is for annotations and is left out: its module imports much, and "import *"
# imports the module of each name here.
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
    "memoize",
]

# The module of each name. A program that imports the package may never use it, or
# only an exception of it, so a module is imported when one of its names is first used.
_MODULES = {
    "Cache": "_cache",
    "CompileError": "_errors",
    "DriverError": "_errors",
    "Entry": "_entry",
    "Error": "_errors",
    "File": "_key",
    "Key": "_key",
    "Lease": "_lease",
    "LibraryError": "_errors",
    "Memoized": "_memoize.memoized",
    "RefusedError": "_errors",
    "Tool": "_key",
    "available": "_library",
    "default_cache": "_default",
    "memoize": "_memoize.decorator",
}

# Public modules. They too are imported at first use.
_SUBMODULES = ("adapters", "cuda", "mpi", "native")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import the submodule of that name, or the module that defines the name."""
        if name in _SUBMODULES:
            return __import__(f"{__name__}.{name}", fromlist=("*",))
        module = _MODULES.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(__import__(f"{__name__}.{module}", fromlist=(name,)), name)
        return found

    def __dir__() -> list[str]:
        """Return all names, whether their modules are imported yet or not."""
        return sorted({*globals(), *__all__, *_SUBMODULES})
