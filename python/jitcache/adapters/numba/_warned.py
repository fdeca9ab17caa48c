"""Warnings: what Numba warns of while it compiles, which a program shall be told too when it compiles nothing."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

from numba.core import errors

from ._seen import Warned, here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# What was shown when something was found again that calls a function, for which it is not shown once more.
_shown: weakref.WeakKeyDictionary[Any, set[Warned]] = weakref.WeakKeyDictionary()


def showing(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return what stands in the place of Python's function that shows a warning: it notes Numba's."""
    # Numba catches some and shows them later; those are met twice, and count when they reach whom they are for.
    for_all = getattr(warnings, "_showwarnmsg_impl", None)

    def show(message: Any) -> None:
        category = message.category
        caught = getattr(warnings, "_showwarnmsg_impl", None) is not for_all
        if here.open and not caught and category.__module__ == errors.__name__:
            warned = Warned(category.__name__, str(message.message), message.filename, message.lineno)
            here.open[-1].warnings[warned] = None
        original(message)

    return show


def warn_again(warned: Iterable[Warned], function: Any, callees: Iterable[Any]) -> None:
    """Warn of what the compile of a function and of those that it calls has warned of, as the filters are now."""
    known = _shown.get(function, ())
    new = [one for one in warned if one not in known]
    for callee in callees:
        _shown.setdefault(callee, set()).update(new)
    for category, text, file, line in new:
        warnings.warn_explicit(text, getattr(errors, category, errors.NumbaWarning), file, line)
