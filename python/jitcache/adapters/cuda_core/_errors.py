"""Errors that are jitcache's and cuda.core's at once: handlers of either catch them."""

from __future__ import annotations

import functools
from typing import Any

from jitcache._errors import CompileError, Error, RefusedError


class _Both:
    """The base that pickles such an error.

    The class of the error is made at run time, and no module has it by name. So the
    error is pickled as jitcache's, and made both again where it is unpickled.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        assert isinstance(self, Error)
        if isinstance(self, CompileError):
            return translated, (CompileError(str(self), self.log, self.command),), self.__dict__
        return translated, (RefusedError(str(self), self.status),), self.__dict__


@functools.cache
def _compile_error() -> type[CompileError]:
    try:
        from cuda.core._utils.cuda_utils import NVRTCError
    except ImportError:  # it is private, and another version may have it elsewhere
        return CompileError
    members = {"__module__": __name__, "__doc__": CompileError.__doc__}
    return type("CompileError", (_Both, CompileError, NVRTCError), members)


class _RefusedError(_Both, RefusedError, ValueError):
    __doc__ = RefusedError.__doc__


_RefusedError.__name__ = _RefusedError.__qualname__ = "RefusedError"


def translated(error: Error) -> Error:
    """Return the error as one that is also cuda.core's, if cuda.core has a counterpart."""
    text = str(error)
    if isinstance(error, CompileError):
        return _compile_error()(text, error.log, error.command)
    if isinstance(error, RefusedError):
        return _RefusedError(text, error.status)
    return error
