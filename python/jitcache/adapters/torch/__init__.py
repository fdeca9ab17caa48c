"""What PyTorch compiles for the CPU, in a jitcache: graphs of torch.compile, and all C++ of Inductor and AOTInductor.

    JITCACHE_TORCH=1 python program.py

or in the program:

    import jitcache.adapters.torch

    jitcache.adapters.torch.install()

From then on a process whose torch folders are empty starts no compiler for what
another has compiled. ``docs/torch.md`` says what is in a key and what is not cached.
For PyTorch 2.11 to 2.15. Importing this module does not import PyTorch.

The name of an entry is that of the file that the compiler makes, or PyTorch's class and
the beginning of its key. ``clear`` leaves the files in PyTorch's own folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitcache.adapters._frame import AdapterFrame

if TYPE_CHECKING:
    from jitcache import Cache

__all__ = ["KIND", "clear", "count", "entries", "install", "uncached", "uninstall"]

#: The kind of the entries: graphs, and what the C++ compiler makes.
KIND = "torch"

#: The kinds of entries that save a process time and hold no result: answers of compilers, of probes, and of torch_key.
OWN_KINDS = ("_torch-asked", "_torch-isa", "_torch-key")

_cache = AdapterFrame(KIND, "PyTorch", __name__, OWN_KINDS)
uninstall = _cache.uninstall
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear


def install(cache: Cache | None = None) -> str:
    """Serve PyTorch from a jitcache, in this process; return how: ``"all"``, ``"compiler"`` or ``""``.

    ``cache``: the cache; default ``jitcache.default_cache()``. ``"all"``: graphs and C++.
    ``"compiler"``: this PyTorch keeps graphs in another way than the adapter knows, so
    its own cache has them, and the jitcache what the C++ compiler makes. ``""``: there
    is no cache, or the compiler is not called as expected: nothing is changed. In both
    cases a warning of the logger ``jitcache`` says why.

    Imports ``torch._inductor``. May be called again, to change the cache. Raises
    ImportError without PyTorch.
    """
    import torch._functorch._aot_autograd.autograd_cache
    import torch._inductor.codecache  # noqa: F401

    return _attach(cache)


def _attach(cache: Cache | None = None) -> str:
    """Attach hooks to what is imported; the start-up file calls this after each module that has some."""
    from . import _hooks

    if not _cache.fits(cache):
        return ""
    how = _hooks.attach(_cache)
    if how:
        _cache.given = cache
    return how
