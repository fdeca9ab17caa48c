"""Loggers. What is logged is no result, but code may ask a logger what it would do, and what stands behind it."""

from __future__ import annotations

import logging
from typing import Any

from jitcache._code import Unkeyable

from .outside import LEADS_FROM_LOGGERS

# Of a logger, what is said of it.
_OF_LOGGERS = frozenset((*vars(logging.root), "manager"))


def describe(reach: Any, value: logging.Logger) -> None:
    """Put what a logger says of itself."""
    said = (
        value.name,
        value.level,
        value.getEffectiveLevel(),
        value.disabled,
        value.manager.disable,
        value.propagate,
        value.hasHandlers(),
        getattr(value.parent, "name", None),
        [type(one).__qualname__ for one in (*value.handlers, None, *value.filters)],
    )
    reach._put("logger", repr(said).encode())
    reach._value({n: v for n, v in vars(value).items() if n not in _OF_LOGGERS})
    reach._loggers.append(value)


def describe_behind(reach: Any, loggers: list[logging.Logger], asked: set[str]) -> None:
    """Put the handlers and filters of loggers, and the loggers above; refuse code that asks for any other logger."""
    leading = sorted(asked & LEADS_FROM_LOGGERS)
    if loggers and leading:
        raise Unkeyable("can reach anything", f"{leading[0]} of a logger")
    for logger in loggers:
        one: logging.Logger | None = logger
        while one is not None:
            reach._put("above", f"{one.name} {one.level} {one.disabled} {one.propagate}".encode())
            for part in (*one.handlers, *one.filters):
                _part(reach, part)
            one = one.parent


def _part(reach: Any, value: Any) -> None:
    """Put a part: one of logging's own classes by its attributes, since logging is not among what looks at nothing."""
    cls = type(value)
    if cls.__module__ != "logging":
        reach._value(value)
        return
    reach._put("part", cls.__qualname__.encode())
    for name, found in sorted(vars(value).items()):
        reach._put("attribute", name.encode())
        _part(reach, found)
