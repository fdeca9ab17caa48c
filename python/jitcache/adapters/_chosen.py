"""What the interfaces of adapters share: which cache, and whether their framework is served from it."""

from __future__ import annotations

from typing import Any

from jitcache import Cache, default_cache
from jitcache._default import has_directory


class Chosen:
    """The cache of an adapter, when it is called: the one that was given, or the default one."""

    def __init__(self, kind: str, framework: str) -> None:
        self.given: Cache | None = None
        self._kind, self._framework = kind, framework

    def __call__(self) -> Cache:
        return default_cache() if self.given is None else self.given

    def fits(self, cache: Cache | None, instead: str = "") -> bool:
        """Return whether a cache, or the default one, has a directory; if not, warn, and say what is instead."""
        instead = instead or f"{self._framework}'s own stays as it is"
        return has_directory(default_cache() if cache is None else cache, self._kind, instead)

    def attach(self, cache: Cache | None, hooks: Any) -> bool:
        """Have an adapter's hooks serve from a cache; return whether they do.

        Not if there is no directory, or if ``hooks.unfit()`` says what of the framework
        is not as they know it: then nothing is changed, and there is a warning.
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
