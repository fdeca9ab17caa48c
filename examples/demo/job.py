"""Jobs: each is something that a program compiles while it runs.

A job compiles its code through the cache, and checks that the code is right.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jitcache
    from toolchain import Toolchain


class Wrong(Exception):
    """The compiled code computes a wrong result."""


class Job(abc.ABC):
    """One key, one compile."""

    name: str
    title: str
    file_name: str  # of the source, as the compiler and the log see it

    compiled = False  # by this process, at the last obtain

    def __init__(self, toolchain: Toolchain) -> None:
        self.toolchain = toolchain

    @abc.abstractmethod
    def key(self) -> jitcache.Key:
        """Return the key of the result."""

    @abc.abstractmethod
    def obtain(self, cache: jitcache.Cache) -> Any:
        """Return the compiled code in the form that ``check`` uses. Raises Wrong."""

    @abc.abstractmethod
    def check(self, code: Any) -> str:
        """Run the code on data; return what was checked. Raises Wrong."""
