"""Functions that Python runs while a kernel is compiled: what they look up, and what else their results depend on."""

from __future__ import annotations

import builtins
import hashlib
from typing import TYPE_CHECKING, Any

from jitcache._code import Unkeyable
from jitcache._memoize.mentions import mentions_of
from jitcache._memoize.order import hashes_are_fixed
from jitcache._memoize.outside import is_inside, leads_elsewhere
from jitcache._memoize.settings import python_version, settings

if TYPE_CHECKING:
    from collections.abc import Container
    from types import FunctionType


def looked_up(fn: FunctionType, scope: Container[str]) -> list[tuple[str, ...]]:
    """Return what a function looks up in its scope, each name with the attributes that are asked of it.

    Raises Unkeyable for one that asks for what is not seen.
    """
    mentions = mentions_of(fn.__code__)
    if mentions.imports:
        raise Unkeyable("imports", fn.__qualname__)
    if any(map(leads_elsewhere, mentions.attributes)):
        raise Unkeyable("asks for what cannot be followed", fn.__qualname__)
    chains = [*mentions.chains, *(chain for chain in mentions.cells if chain[0] in fn.__code__.co_freevars)]
    for chain in chains:
        if chain[0] not in scope:
            _check_builtin(chain[0])
    return [chain for chain in chains if chain[0] in scope]


def python() -> str:
    """Return what tells this Python from others, which is no part of Triton's key."""
    return hashlib.sha256(python_version() + settings()).hexdigest()


def _is_pythons(value: Any) -> bool:
    """Whether a builtin is Python's, and nothing that a program has put in its place."""
    return getattr(value, "__module__", None) == "builtins"


def _check_builtin(name: str) -> None:
    """Raise Unkeyable if a builtin looks at what nobody sees."""
    value = getattr(builtins, name, None)
    if value is None:
        return
    if not _is_pythons(value) or not (isinstance(value, type) or is_inside("builtins", name)):
        raise Unkeyable("looks outside", name)
    if name == "hash" and not hashes_are_fixed():
        raise Unkeyable("asks for what is another in each process", name)
