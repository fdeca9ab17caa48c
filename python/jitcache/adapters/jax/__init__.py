"""JAX's compiled programs in a jitcache.

    import jitcache.adapters.jax

    jitcache.adapters.jax.install()

From then on this process and others that do the same compile each program once: JAX's
own persistent cache uses a jitcache in place of a folder.

``docs/jax.md`` says what is in a key and what is not cached. Importing this module
does not import JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitcache.adapters._chosen import Chosen

if TYPE_CHECKING:
    from jitcache import Cache

__all__ = ["KIND", "SCHEME", "clear", "count", "entries", "install", "register", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "jax"

#: The beginning of a ``jax_compilation_cache_dir`` that means a jitcache, see ``register``.
SCHEME = "jitcache://"

_cache = Chosen(KIND, "JAX")


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


def uninstall() -> None:
    """Give JAX its own cache back, and the settings that ``install`` has changed."""
    from . import _hooks

    _hooks.detach()
    _cache.given = None


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


def uncached() -> dict[str, int]:
    """Return why programs that this process has compiled were not stored, and how often: ``{"not stored": 2}``."""
    return dict(_cache.reasons)


def entries() -> list[dict[str, Any]]:
    """Return a description of each entry, as ``jitcache ls --json`` prints it; the name is that of JAX's module."""
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of JAX's programs, and no others."""
    _cache().clear(KIND)
