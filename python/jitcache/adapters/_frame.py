"""The frame of an adapter: its cache, its counts, and the functions that every adapter has."""

from __future__ import annotations

import collections
import importlib
from typing import TYPE_CHECKING, Any, Protocol

from jitcache import Cache, default_cache
from jitcache._default import has_directory

if TYPE_CHECKING:
    from collections.abc import Callable


class Hooks(Protocol):
    """The module ``_hooks`` of an adapter: the functions of a framework that the adapter replaces."""

    def unfit(self) -> str:
        """Return the part of the framework that is not as the adapter expects, "" if there is none."""

    def attach(self, cache: Callable[[], Cache]) -> None:
        """Replace the functions by ones that use the cache that ``cache`` returns; do nothing if that was done."""

    def detach(self) -> None:
        """Put the framework's functions back; do nothing if they were not replaced."""


class AdapterFrame:
    """The cache of an adapter, and the functions of its package. A call returns the cache, given or default.

    ``kind``: the kind of the adapter's entries. ``framework``: its name in messages.
    ``package``: the adapter's package; its module ``_hooks`` is imported when it is needed,
    as it imports the framework. ``own_kinds``: kinds of entries that hold no results, which
    ``clear`` removes too.

    ``reasons``: why something was left to the framework, or not stored, and how often.
    """

    def __init__(self, kind: str, framework: str, package: str, own_kinds: tuple[str, ...] = ()) -> None:
        self.given: Cache | None = None
        self.reasons: collections.Counter[str] = collections.Counter()
        self._kind, self._framework, self._package, self._own_kinds = kind, framework, package, own_kinds

    def __call__(self) -> Cache:
        return default_cache() if self.given is None else self.given

    def fits(self, cache: Cache | None, instead: str = "") -> bool:
        """Return whether a cache, or the default one, has a directory; if not, warn. ``instead`` says what follows."""
        instead = instead or f"{self._framework}'s own stays as it is"
        return has_directory(default_cache() if cache is None else cache, self._kind, instead)

    def hooks(self) -> Any:
        """Return the adapter's module ``_hooks``, see ``Hooks``. Raises ImportError without the framework."""
        return importlib.import_module("._hooks", self._package)

    def install(self, cache: Cache | None = None) -> bool:
        """Let the framework use a jitcache, in this process; return whether that was done.

        ``cache``: the cache; default ``jitcache.default_cache()``. Returns False if it has
        no directory, or if this version of the framework is not as the adapter expects:
        then nothing is changed, and a warning of the logger ``jitcache`` says why.

        What is compiled or loaded already stays as it is. May be called again, to change
        the cache. Raises ImportError without the framework.
        """
        hooks: Hooks = self.hooks()
        if not self.fits(cache):
            return False
        if what := hooks.unfit():
            import logging  # seldom, and it takes longer than this package

            text = "%s: %s is not as expected: %s's own cache stays as it is"
            logging.getLogger("jitcache").warning(text, self._kind, what, self._framework)
            return False
        self.given = cache
        hooks.attach(self)
        return True

    def uninstall(self) -> None:
        """Leave what is compiled from now on to the framework and its own cache."""
        self.hooks().detach()
        self.given = None

    def uncached(self) -> dict[str, int]:
        """Return why results of this process were left to the framework or not stored, and how often."""
        return dict(self.reasons)

    def entries(self, cache: Cache | None = None) -> list[dict[str, Any]]:
        """Return a description of each entry of the adapter, as ``jitcache ls --json`` prints it.

        ``cache``: which cache; default the one that the adapter uses.
        """
        return list(self._of(cache).entries(self._kind))

    def count(self, cache: Cache | None = None) -> int:
        """Return the number of entries of the adapter. ``cache``: which cache; default the one that it uses."""
        return self._of(cache).count(self._kind)

    def clear(self, cache: Cache | None = None) -> None:
        """Remove all entries of the adapter, and no others. What the framework keeps itself stays.

        ``cache``: which cache; default the one that the adapter uses.
        """
        cache = self._of(cache)
        for kind in (self._kind, *self._own_kinds):
            cache.clear(kind)

    def _of(self, cache: Cache | None) -> Cache:
        return self() if cache is None else cache
