"""Exceptions. A miss is none: it is ``None``, or ``False`` with a reason."""

from __future__ import annotations


class Error(Exception):
    """Base of all exceptions of jitcache: wrong use, or no memory.

    ``status`` is the status of jitcache.h that it stands for, 0 for none.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class CompileError(Error):
    """A compiler refused its input.

    ``log`` is what it printed; ``command`` is the command that was run, None if it
    was called as a library.
    """

    def __init__(self, message: str, log: str = "", command: list[str] | None = None) -> None:
        super().__init__(message, status=-20)
        self.log = log
        self.command = command


class RefusedError(Error):
    """A result cannot be keyed; the message names the input that prevents it.

    With ``cache=False`` the same call compiles, without a cache.
    """


class LibraryError(Error):
    """A library or compiler was not found; the message says what was searched for, and where."""


class DriverError(Error):
    """A call of the CUDA driver failed; the message has its name and text."""


_BY_STATUS: dict[int, type[Error]] = {-21: RefusedError, -22: LibraryError, -23: DriverError}


def error_of(message: str, status: int) -> Error:
    """Return the exception for a status of the library."""
    return _BY_STATUS.get(status, Error)(message, status)
