"""Mentions: the globals, attributes and modules that code may look up, by its instructions."""

from __future__ import annotations

import dis
import types
import weakref
from typing import Any, NamedTuple

from jitcache._code import Unkeyable

from .outside import ASKS_ARRAYS, ASKS_LOCKS, ASKS_LOGGERS, leading_words


class Import(NamedTuple):
    """One statement: ``from ..module import names``, or ``import module`` without names."""

    module: str
    level: int
    names: tuple[str, ...]


class Mentions(NamedTuple):
    """What code and the code nested in it may look up.

    ``chains`` are globals, each with the attributes that are asked for at once:
    ``("os", "path", "join")``; ``cells`` are those of variables of outer functions.
    ``attributes`` are all attributes that are asked for, and texts that could name one.
    """

    chains: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[str, ...], ...]
    imports: tuple[Import, ...]
    attributes: tuple[str, ...]


_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL"))
_CELLS = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"))
# Instructions that bind a name, or ask for none that counts.
_OTHERS = frozenset(("STORE_ATTR", "DELETE_ATTR", "STORE_NAME", "DELETE_NAME", "IMPORT_NAME", "IMPORT_FROM"))

_known: weakref.WeakKeyDictionary[types.CodeType, Mentions] = weakref.WeakKeyDictionary()


def mentions_of(code: types.CodeType) -> Mentions:
    """Return what code may look up. Raises Unkeyable for an instruction that is not known."""
    found = _known.get(code)
    if found is None:
        found = _known[code] = _read_mentions(code)
    return found


def _read_mentions(code: types.CodeType) -> Mentions:
    chains: dict[tuple[str, ...], None] = {}
    cells: dict[tuple[str, ...], None] = {}
    imports: dict[Import, None] = {}
    attributes: dict[str, None] = {}
    steps = [i for i in dis.get_instructions(code) if i.opname not in ("EXTENDED_ARG", "CACHE", "PUSH_NULL")]
    chain: tuple[str, ...] = ()
    kind = chains
    for at, step in enumerate(steps):
        if chain and step.opname not in _ATTRIBUTES:
            kind[chain] = None
            chain = ()
        if step.opname in _GLOBALS or step.opname in _CELLS:
            kind = chains if step.opname in _GLOBALS else cells
            chain = (str(step.argval),)
        elif step.opname in _ATTRIBUTES:
            attributes[str(step.argval)] = None
            chain = (*chain, str(step.argval)) if chain else ()
        elif step.opname == "LOAD_BUILD_CLASS":
            chains["__build_class__",] = None
        elif step.opname == "IMPORT_NAME":
            imports[_import(steps, at)] = None
        elif step.opcode in dis.hasname and step.opname not in _OTHERS:
            raise Unkeyable("instruction of another Python", step.opname)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            inner = mentions_of(const)
            chains.update(dict.fromkeys(inner.chains))
            cells.update(dict.fromkeys(inner.cells))
            imports.update(dict.fromkeys(inner.imports))
            attributes.update(dict.fromkeys(inner.attributes))
        else:
            attributes.update(dict.fromkeys({const} & {*ASKS_LOCKS, *ASKS_ARRAYS, *ASKS_LOGGERS}))
            attributes.update(dict.fromkeys(leading_words(repr(const))))
    return Mentions(tuple(chains), tuple(cells), tuple(imports), tuple(attributes))


def _import(steps: list[Any], at: int) -> Import:
    """Return an import by the two constants before it: the level, and the names or None."""
    level, names = steps[at - 2].argval, steps[at - 1].argval
    if not isinstance(level, int) or not isinstance(names, (tuple, type(None))):
        raise Unkeyable("instruction of another Python", "IMPORT_NAME")
    return Import(str(steps[at].argval), level, tuple(names or ()))
