"""Errors that are ours and cuda.core's at once, so that whoever catches either does."""

from __future__ import annotations

import functools
from typing import Any

from jitcache._errors import CompileError, Error, RefusedError


class _Both:
    """The part of such an error that pickles it.

    Its class is made where cuda.core is, and no module has it by name. So it travels as
    ours, and the process that takes it in makes it both again.
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
    except ImportError:  # no public name leads to it: a version that keeps it elsewhere
        return CompileError
    members = {"__module__": __name__, "__doc__": CompileError.__doc__}
    return type("CompileError", (_Both, CompileError, NVRTCError), members)


class _RefusedError(_Both, RefusedError, ValueError):
    __doc__ = RefusedError.__doc__


_RefusedError.__name__ = _RefusedError.__qualname__ = "RefusedError"


def translated(error: Error) -> Error:
    """Return the same error as one of cuda.core's too, if that has its like."""
    text = str(error)
    if isinstance(error, CompileError):
        return _compile_error()(text, error.log, error.command)
    if isinstance(error, RefusedError):
        return _RefusedError(text, error.status)
    return error
