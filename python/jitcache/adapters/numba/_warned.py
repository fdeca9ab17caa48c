"""Warnings that are given while Numba compiles: a result with one is not kept by its source.

A warning is noted where it is given: the filters of that process may hide it, and those
of another one show it. Within a block of ``catch_warnings`` it is noted only if it is shown.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._seen import here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _note(message: Any) -> None:
    text = message if isinstance(message, str) else type(message).__name__  # how others print a warning is their code
    here.open[-1].warned = here.open[-1].warned or text or "a warning"


def _counts(of_all: Any) -> bool:
    """Whether a warning that is given now is for the program, not for whoever catches it. Numba gives some again."""
    if not here.open or warnings.filters is of_all:
        return bool(here.open)
    return warnings.filters is here.catching


def catching(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement for the method in which Numba catches warnings, to give them later."""

    @contextmanager
    def catch(self: Any, *args: Any, **more: Any) -> Iterator[None]:
        outer = here.catching
        with original(self, *args, **more):
            here.catching = warnings.filters
            try:
                yield
            finally:
                here.catching = outer

    return catch


def showing(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a replacement for Python's function that shows a warning."""
    # Numba catches some warnings and shows them later. They come here twice, and count when they are not caught.
    for_all = getattr(warnings, "_showwarnmsg_impl", None)

    def show(message: Any) -> None:
        if here.open and getattr(warnings, "_showwarnmsg_impl", None) is for_all:
            _note(message.message)
        original(message)

    return show


def giving(original: Callable[..., None]) -> Callable[..., None]:
    """Return a replacement for ``warnings.warn``."""
    of_all = warnings.filters

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any) -> None:
        skips = bool(more.get("skip_file_prefixes"))  # then it points to none of these files, nor to this one
        if _counts(of_all):
            _note(message)
        original(message, category, stacklevel if skips else max(stacklevel, 1) + 1, source, **more)

    return warn


def giving_at(original: Callable[..., None]) -> Callable[..., None]:
    """Return a replacement for ``warnings.warn_explicit``."""
    of_all = warnings.filters

    def warn_explicit(message: Any, *args: Any, **more: Any) -> None:
        if _counts(of_all):
            _note(message)
        original(message, *args, **more)

    return warn_explicit
