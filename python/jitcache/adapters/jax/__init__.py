"""JAX's compiled programs in a jitcache.

    import jitcache.adapters.jax

    jitcache.adapters.jax.install()

From then on what JAX compiles in this process, and in others that say the same,
is compiled once: JAX's own persistent cache asks a jitcache in place of a folder.

``docs/jax.md`` says what is in a key and what is not cached. Importing this module
does not import JAX.
"""

from __future__ import annotations

from typing import Any

from jitcache import Cache, default_cache
from jitcache._default import has_directory

__all__ = ["KIND", "SCHEME", "clear", "count", "entries", "install", "register", "uncached", "uninstall"]

#: The kind of the entries.
KIND = "jax"

#: What a ``jax_compilation_cache_dir`` begins with, for ``register``.
SCHEME = "jitcache://"

_given: Cache | None = None


def _cache() -> Cache:
    return default_cache() if _given is None else _given


def install(cache: Cache | None = None) -> str:
    """Have JAX's persistent cache be a jitcache, in this process, and return how: ``"lease"``, ``"path"`` or ``""``.

    ``cache``: which one; without it ``jitcache.default_cache()``. Programs that take
    less than a second to compile are kept too, unless
    ``jax_persistent_cache_min_compile_time_secs`` or
    ``jax_persistent_cache_min_entry_size_bytes`` were set to something.
    ``jax_enable_compilation_cache`` still switches it off.

    ``"lease"``: one compiles, however many threads and processes ask. ``"path"``:
    this JAX is not one that the adapter knows, and is served as by ``register``:
    several may compile the same. ``""``: neither can be had, and JAX's own cache
    stays as it was; the logger ``jitcache`` has a line that says why.

    May be called again, to change the cache. Raises ImportError without JAX.
    """
    global _given
    from . import _hooks

    if not has_directory(default_cache() if cache is None else cache, KIND, "JAX"):
        return ""
    _given = cache
    return _hooks.attach(_cache)


def uninstall() -> None:
    """Give JAX its own cache back, and the settings that ``install`` has changed."""
    global _given
    from . import _hooks

    _hooks.detach()
    _given = None


def register(cache: Cache | None = None) -> None:
    """Have ``jax_compilation_cache_dir="jitcache://"`` mean a jitcache: the way that uses public interfaces only.

    Nothing else is changed: ``jax_compilation_cache_dir`` and the thresholds are the
    program's. Damaged entries are repaired, but several processes may compile the
    same. Raises ImportError without ``etils``, which JAX needs for such names.
    """
    global _given
    from ._path import register_scheme

    if has_directory(default_cache() if cache is None else cache, KIND, "JAX"):
        _given = cache
        register_scheme(_cache)


def uncached() -> dict[str, int]:
    """Return why programs that this process has compiled were not stored, and how often: ``{"not stored": 2}``."""
    from ._compile import reasons

    return dict(reasons)


def entries() -> list[dict[str, Any]]:
    """Return what is known of each entry, as ``jitcache ls -json`` prints it; the name is that of JAX's module."""
    return list(_cache().entries(KIND))


def count() -> int:
    """Return the number of entries."""
    return _cache().count(KIND)


def clear() -> None:
    """Remove all entries of JAX's programs, and no others."""
    _cache().clear(KIND)
