"""Warnings: those that are given while Numba compiles, and that a hit repeats.

A warning is noted where it is given: the filters of that process may hide it, and those
of another one show it. Within a block of ``catch_warnings`` it is noted only if it is shown.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import errors

from ._code import is_importable, versioned_class
from ._seen import Warned, here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# By function, the warnings that a hit of one of its callers has shown already. A hit of the function does not
# show them again.
_shown: weakref.WeakKeyDictionary[Any, set[Warned]] = weakref.WeakKeyDictionary()


def _note(*warning: Any) -> None:
    """Note a warning: message, category, file, line, module."""
    try:
        _note_it(*warning)
    except Exception as e:  # noqa: BLE001 - a cache never fails the program
        here.open[-1].refuse("error", f"{type(e).__name__}: {e}")


def _note_it(message: Any, category: Any, file: str, line: int, module: str | None = None) -> None:
    """Note a warning. Its class must be one that every process has."""
    category = type(message) if isinstance(message, Warning) else category or UserWarning
    if not isinstance(category, type) or not (versioned_class(category) and is_importable(category)):
        here.open[-1].refuse("warning", category)
        return
    warned = Warned(f"{category.__module__}:{category.__qualname__}", str(message), file, line, module)
    if not any(warned[:4] == one[:4] for one in here.open[-1].warnings):
        here.open[-1].warnings[warned] = None


def _counts(of_all: Any, message: Any, category: Any) -> bool:
    """Whether a warning that is given now is for the program: not for whoever catches it. Numba gives some again."""
    if not here.open or warnings.filters is of_all:
        return bool(here.open)
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    if warnings.filters is not here.catching:
        return False
    if issubclass(kind, errors.NumbaWarning):
        here.open[-1].warned = here.open[-1].warned or str(message)
        return False
    return True


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
            _note(message.message, message.category, message.filename, message.lineno)
        original(message)

    return show


def _caller(level: int) -> Any:
    """Return the frame that a warning points to; ``level`` is as for ``warnings.warn``."""
    frame: Any = sys._getframe(2)
    while level > 1 and frame.f_back is not None:
        frame = frame.f_back
        level -= "importlib" not in frame.f_code.co_filename or "_bootstrap" not in frame.f_code.co_filename
    return frame


def giving(original: Callable[..., None]) -> Callable[..., None]:
    """Return a replacement for ``warnings.warn``."""
    of_all = warnings.filters

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any) -> None:
        skips = bool(more.get("skip_file_prefixes"))  # then it points to none of these files, nor to this one
        if not skips and _counts(of_all, message, category):
            frame = _caller(stacklevel)
            _note(message, category, frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", ""))
        original(message, category, stacklevel if skips else max(stacklevel, 1) + 1, source, **more)

    return warn


def giving_at(original: Callable[..., None]) -> Callable[..., None]:
    """Return a replacement for ``warnings.warn_explicit``."""
    of_all = warnings.filters

    def warn_explicit(message: Any, category: Any, filename: str, lineno: int, *args: Any, **more: Any) -> None:
        if _counts(of_all, message, category):
            _note(message, category, filename, lineno, more.get("module", args[0] if args else None) or "")
        original(message, category, filename, lineno, *args, **more)

    return warn_explicit


def _class_of(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found or UserWarning


def warn_again(warned: Iterable[Warned], function: Any, callees: Iterable[Any]) -> None:
    """Repeat the warnings of the compiles of a function and its callees, under the present filters."""
    known = _shown.get(function, ())
    new = [one for one in warned if one not in known]
    for callee in callees:
        _shown.setdefault(callee, set()).update(new)
    for category, text, file, line, module in new:
        more: dict[str, Any] = {"module": module} if module else {}  # with None it would not be shown
        warnings.warn_explicit(text, _class_of(category), file, line, **more)
