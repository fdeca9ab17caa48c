"""JAX's compiled programs in a jitcache.

    import jitcache.adapters.jax

    jitcache.adapters.jax.install()

From then on this process and others that do the same compile each program once: JAX's
own persistent cache uses a jitcache in place of a folder.

``docs/jax.md`` says what is in a key and what is not cached. Importing this module
does not import JAX. The name of an entry is that of JAX's module. ``uninstall`` restores
the settings that ``install`` has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitcache.adapters._frame import AdapterFrame

if TYPE_CHECKING:
    from jitcache import Cache

__all__ = ["KIND", "SCHEME", "clear", "count", "entries", "install", "register", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "jax"

#: The beginning of a ``jax_compilation_cache_dir`` that means a jitcache, see ``register``.
SCHEME = "jitcache://"

_cache = AdapterFrame(KIND, "JAX", __name__)
uninstall = _cache.uninstall
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear


def install(cache: Cache | None = None) -> str:
    """Make JAX's persistent cache a jitcache, in this process; return how: ``"lease"``, ``"path"`` or ``""``.

    ``cache``: the cache; default ``jitcache.default_cache()``. Programs that take
    less than a second to compile are kept too, unless
    ``jax_persistent_cache_min_compile_time_secs`` or
    ``jax_persistent_cache_min_entry_size_bytes`` was set to another value.
    ``jax_enable_compilation_cache`` still switches it off.

    ``"lease"``: one compiles, however many threads and processes ask. ``"path"``:
    this JAX is not as the adapter expects, and is served as by ``register``: several
    may compile the same. ``""``: neither is possible, and JAX's own cache stays as it
    was; a warning of the logger ``jitcache`` says why.

    May be called again, to change the cache. Raises ImportError without JAX.
    """
    from . import _hooks

    if not _cache.fits(cache):
        return ""
    _cache.given = cache
    return _hooks.attach(_cache)


def register(cache: Cache | None = None) -> None:
    """Make ``jax_compilation_cache_dir="jitcache://"`` mean a jitcache, by public interfaces only.

    Nothing else is changed: the program sets ``jax_compilation_cache_dir`` and the
    thresholds. Damaged entries are repaired, but several processes may compile the same.
    If there is no cache, nothing is kept under that name, and a warning says why. Raises
    ImportError without ``etils``, which JAX needs for such names.
    """
    from ._path import register_scheme

    # First: JAX ends a program that uses a name which is not registered.
    _cache.given = cache
    register_scheme(_cache)
    _cache.fits(cache, "what is compiled is not kept")
