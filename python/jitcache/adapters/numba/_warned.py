"""Warnings: those that Numba gives while it compiles, and that a hit repeats."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

from numba.core import errors

from ._seen import Warned, here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# By function, the warnings that a hit of one of its callers has shown already. A hit of the function does not
# show them again.
_shown: weakref.WeakKeyDictionary[Any, set[Warned]] = weakref.WeakKeyDictionary()


def showing(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a replacement for Python's function that shows a warning. It notes Numba's warnings."""
    # Numba catches some warnings and shows them later. They come here twice, and count when they are not caught.
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
    """Repeat the warnings of the compiles of a function and its callees, under the present filters."""
    known = _shown.get(function, ())
    new = [one for one in warned if one not in known]
    for callee in callees:
        _shown.setdefault(callee, set()).update(new)
    for category, text, file, line in new:
        warnings.warn_explicit(text, getattr(errors, category, errors.NumbaWarning), file, line)
