"""Exceptions. A miss is none: it is ``None``, or ``False`` with a reason."""

from __future__ import annotations


class Error(Exception):
    """Base of all exceptions of jitcache: wrong use, or no memory.

    ``status`` is the status of jitcache.h behind it, 0 if there is none.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class CompileError(Error):
    """A compiler refused its input.

    ``log`` is what it printed; ``command`` is how it was called, or ``None``.
    """

    def __init__(self, message: str, log: str = "", command: list[str] | None = None) -> None:
        super().__init__(message, status=-20)
        self.log = log
        self.command = command
