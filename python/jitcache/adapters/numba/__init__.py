"""Numba's compiled functions in a jitcache.

    JITCACHE_NUMBA=everything python program.py

or in the program:

    import jitcache.adapters.numba

    jitcache.adapters.numba.install(everything=True)

From then on Numba looks up in a jitcache whatever it compiles for ``jit``, ``njit``,
``vectorize``, ``guvectorize`` and ``cfunc``, and stores it there. Nothing is written
next to the sources. Without ``everything``, only functions with ``cache=True`` are cached.

``docs/numba.md`` says what is in a key and what is not cached. Importing this
module does not import Numba. The attributes of an entry are the function, its file and
line when it was compiled, the types of the arguments, and the CPU.
"""

from __future__ import annotations

import os
from types import FunctionType
from typing import Any

from jitcache import Cache, default_cache
from jitcache._fork import ForkLock
from jitcache.adapters._frame import AdapterFrame

__all__ = [
    "KIND",
    "Locator",
    "cfunc",
    "clear",
    "count",
    "entries",
    "guvectorize",
    "install",
    "jit",
    "njit",
    "uncached",
    "uninstall",
    "vectorize",
    "verified",
]

#: The kind of the entries.
KIND = "numba"

_opened: dict[str, Cache] = {}
_lock = ForkLock()


class _Frame(AdapterFrame):
    """The frame, but the cache may also be the one in NUMBA_CACHE_DIR: after the given one, before the default one."""

    def __call__(self) -> Cache:
        if self.given is not None:
            return self.given
        from numba.core import config

        directory = str(config.CACHE_DIR)
        if not directory:
            return default_cache()
        with _lock():
            if directory not in _opened:
                _opened[directory] = Cache(directory)
            return _opened[directory]


_cache = _Frame(KIND, "Numba", __name__)
entries = _cache.entries
count = _cache.count


def _attached() -> Any:
    """Attach the hooks, and return their module."""
    from . import _hooks

    _hooks.choice.cache = _cache
    _hooks.attach()
    return _hooks


def install(
    cache: Cache | None = None,
    *,
    portable: str | tuple[str, str] | None = None,
    everything: bool = False,
    verify: bool = False,
) -> bool:
    """Let Numba's functions in this process use a jitcache: those with ``cache=True``, or all.

    ``cache``: which cache; by default the one in ``NUMBA_CACHE_DIR``, if that is set,
    else ``jitcache.default_cache()``. ``portable``: compile for a CPU that other
    machines have too: ``"x86-64-v2"``, ``"x86-64-v3"``, ``"x86-64-v4"``,
    ``"generic"``, or a pair of a CPU's name and its features in Numba's notation.
    ``everything`` (recommended): also cache functions without ``cache=True``; of
    Numba's own functions only those that Python calls. ``verify``: compile what is
    cached by its source as well, use that, and compare it with the entry, see ``verified``.

    This includes functions that were decorated earlier, unless they are compiled
    already. A second call replaces the settings of the first. Returns True, as in other
    adapters: no version of Numba is left alone as a whole. Raises ImportError without
    Numba, and Error if ``portable`` is unknown, if this machine cannot run it, or if it
    comes too late, after a function was decorated.
    """
    if portable is not None:
        from ._cpu import choose

        choose(portable)
    hooks = _attached()
    _cache.given = cache
    from ._verify import verification

    if verify:
        verification.begin()
    else:
        verification.on = False
    hooks.choice.everything = everything
    hooks.choice.installed = True
    return True


def uninstall() -> None:
    """Leave functions that are decorated from now on to Numba's own cache."""
    hooks = _attached()
    hooks.choice.installed = hooks.choice.everything = False
    _cache.given = None


def _decorate(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    import numba

    def call(function: Any, *args: Any, **options: Any) -> Any:
        choice = _attached().choice
        before, choice.decorating = choice.decorating, True
        try:
            return function(*args, **options)
        finally:
            choice.decorating = before

    result = call(getattr(numba, name), *args, **{"cache": True, **options})
    if args and isinstance(args[0], FunctionType):
        return result
    return lambda function: call(result, function)


def jit(*args: Any, **options: Any) -> Any:
    """``numba.jit`` with ``cache=True`` in a jitcache, without ``install``."""
    return _decorate("jit", args, options)


def njit(*args: Any, **options: Any) -> Any:
    """``numba.njit`` with ``cache=True`` in a jitcache, without ``install``."""
    return _decorate("njit", args, options)


def vectorize(*args: Any, **options: Any) -> Any:
    """``numba.vectorize`` with ``cache=True`` in a jitcache, without ``install``."""
    return _decorate("vectorize", args, options)


def guvectorize(*args: Any, **options: Any) -> Any:
    """``numba.guvectorize`` with ``cache=True`` in a jitcache, without ``install``."""
    return _decorate("guvectorize", args, options)


def cfunc(*args: Any, **options: Any) -> Any:
    """``numba.cfunc`` with ``cache=True`` in a jitcache, without ``install``."""
    return _decorate("cfunc", args, options)


def uncached() -> dict[str, int]:
    """Return why results of this process were not cached, and how often: ``{"jitclass": 2}``.

    The logger ``jitcache`` logs each of them at level INFO, with the function.
    """
    from ._overloads import uncached as counted

    return dict(counted)


def verified() -> dict[str, list[str]]:
    """Return the results that ``install(verify=True)`` has compared: those that are the ``same``, and ``different``.

    A different one has a cause that is not in its key: a wrong hit, without ``verify``. It is also logged as a
    warning. ``unknown`` are those that cannot be compared.
    """
    from ._verify import verification as done

    return {"same": list(done.same), "different": list(done.different), "unknown": list(done.unknown)}


def clear(cache: Cache | None = None) -> None:
    """Remove all entries of Numba's functions, and no others. ``cache``: which cache; default the one in use."""
    from ._cpu import KIND as CPUS
    from ._ir_library import KIND as CODE
    from ._lookup import RECORDS

    cache = _cache() if cache is None else cache
    for kind in (KIND, RECORDS, CODE, CPUS):
        cache.clear(kind)


class Locator:
    """A locator for ``NUMBA_CACHE_LOCATOR_CLASSES``: installs the adapter when Numba locates its first cache.

    Numba requires these methods. Nothing is ever written to the path that the
    locator returns.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_func = py_func
        self._py_file = py_file

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Locator:
        """Return a locator for any function, and install the adapter if it is not installed."""
        if not _attached().choice.installed:
            install()
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        """Do nothing."""

    def get_cache_path(self) -> str:
        """Return a path that is not used."""
        return os.devnull

    def get_source_stamp(self) -> str:
        """Return the same stamp for all sources."""
        return ""

    def get_disambiguator(self) -> str:
        """Return the line of the function."""
        return str(self._py_func.__code__.co_firstlineno)
