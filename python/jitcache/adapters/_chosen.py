"""The chosen cache: what the interfaces of adapters share."""

from __future__ import annotations

import collections
from typing import Any

from jitcache import Cache, default_cache
from jitcache._default import has_directory


class Chosen:
    """The cache of an adapter. A call returns it: the one that was given, else the default one.

    ``reasons``: why something was left to the framework, or not stored, and how often.
    """

    def __init__(self, kind: str, framework: str) -> None:
        self.given: Cache | None = None
        self.reasons: collections.Counter[str] = collections.Counter()
        self._kind, self._framework = kind, framework

    def __call__(self) -> Cache:
        return default_cache() if self.given is None else self.given

    def fits(self, cache: Cache | None, instead: str = "") -> bool:
        """Return whether a cache, or the default one, has a directory; if not, warn. ``instead`` says what follows."""
        instead = instead or f"{self._framework}'s own stays as it is"
        return has_directory(default_cache() if cache is None else cache, self._kind, instead)

    def attach(self, cache: Cache | None, hooks: Any) -> bool:
        """Attach an adapter's hooks, which then serve from a cache; return whether that was done.

        If there is no directory, or if ``hooks.unfit()`` names a part of the framework
        that is not as expected, nothing is changed, and a warning says why.
        """
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
