"""Functions that Python runs while a kernel is compiled: what they look up, and what else determines their results."""

from __future__ import annotations

import builtins
import hashlib
from typing import TYPE_CHECKING, Any

from jitcache._code import Unkeyable
from jitcache._memoize.mentions import mentions_of
from jitcache._memoize.order import hashes_are_fixed
from jitcache._memoize.outside import leads_elsewhere
from jitcache._memoize.settings import python_version, settings
from jitcache._pure_stdlib import is_pure

if TYPE_CHECKING:
    from collections.abc import Container
    from types import FunctionType


def looked_up(fn: FunctionType, scope: Container[str]) -> list[tuple[str, ...]]:
    """Return the names that a function looks up in its scope, each with the attributes that it asks for.

    Raises Unkeyable for a function that asks for something that is not seen.
    """
    mentions = mentions_of(fn.__code__)
    if mentions.imports:
        raise Unkeyable("imports", fn.__qualname__)
    if any(map(leads_elsewhere, mentions.attributes)):
        raise Unkeyable("can reach anything", fn.__qualname__)
    chains = [*mentions.chains, *(chain for chain in mentions.cells if chain[0] in fn.__code__.co_freevars)]
    for chain in chains:
        if chain[0] not in scope:
            _check_builtin(chain[0])
    return [chain for chain in chains if chain[0] in scope]


def python() -> str:
    """Return a digest of this Python's version and settings, which are no part of Triton's key."""
    return hashlib.sha256(python_version() + settings()).hexdigest()


def _is_pythons(value: Any) -> bool:
    """Whether a builtin is Python's own, not a program's replacement."""
    return getattr(value, "__module__", None) == "builtins"


def _check_builtin(name: str) -> None:
    """Raise Unkeyable if a builtin looks at something that is not seen."""
    value = getattr(builtins, name, None)
    if value is None:
        return
    if not _is_pythons(value) or not (isinstance(value, type) or is_pure("builtins", name)):
        raise Unkeyable("looks outside", name)
    if name == "hash" and not hashes_are_fixed():
        raise Unkeyable("asks for something that differs in each process", name)
