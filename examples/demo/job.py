"""Jobs: one thing each that a program compiles while it runs.

A job knows what its result depends on, how to compile it, and how to tell that
what came out is right. It does not know whether that was compiled just now.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import jitcache

if TYPE_CHECKING:
    from toolchain import Toolchain


class Wrong(Exception):
    """What the compiled code computes is not what it should."""


class Job(abc.ABC):
    """One key, one compile."""

    name: str
    title: str
    kind: str  # of the entries
    file_name: str  # of the source, as the compiler and the witness see it

    def __init__(self, toolchain: Toolchain) -> None:
        self.toolchain = toolchain

    def key(self) -> jitcache.Key:
        """Return the key of the result, named for ``jitcache explain``."""
        return jitcache.Key(self.components()).named(self.name)

    @abc.abstractmethod
    def components(self) -> dict[str, Any]:
        """Return everything that the result depends on: never a path, never a time."""

    @abc.abstractmethod
    def compile(self) -> bytes:
        """Run the compiler."""

    def obtain(self, cache: jitcache.Cache, key: jitcache.Key) -> Any:
        """Return the compiled code in the form in which ``check`` uses it."""
        return cache.get_or_compile(key, self.compile, kind=self.kind)

    @abc.abstractmethod
    def check(self, code: Any) -> str:
        """Run the code on data; return what was found right. Raises Wrong."""
