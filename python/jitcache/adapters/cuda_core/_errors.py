"""Errors that are ours and cuda.core's at once, so that whoever catches either does."""

from __future__ import annotations

import functools

from jitcache._errors import CompileError, Error, RefusedError


@functools.cache
def _compile_error() -> type[CompileError]:
    try:
        from cuda.core._utils.cuda_utils import NVRTCError
    except ImportError:  # no public name leads to it: a version that keeps it elsewhere
        return CompileError
    return type("CompileError", (CompileError, NVRTCError), {"__module__": __name__, "__doc__": CompileError.__doc__})


class _RefusedError(RefusedError, ValueError):
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
