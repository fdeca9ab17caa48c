"""What a native build is given of a process: its variables, its limits and its umask."""

from __future__ import annotations

import os
import resource
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, Union

from . import _ffi
from ._errors import Error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Which variables a build gets: "strict", or words: "strict", "+PATTERN", "-PATTERN" (record/filter.go).
Environment = Union[str, "Sequence[str]", None]


def environment_words(environment: Environment) -> tuple[str, ...]:
    """Return the words of an ``environment`` argument. Raises Error for others."""
    if environment is None:
        return ()
    words = (environment,) if isinstance(environment, str) else tuple(environment)
    for word in words:
        if not isinstance(word, str) or (word != "strict" and (word[:1] not in ("+", "-") or len(word) < 2)):
            raise Error(f"environment: {word!r}: want 'strict', '+NAME' or '-NAME'", _ffi.ERR_ARGUMENT)
    return words


class Process(NamedTuple):
    """A process as a build is to see it, whatever libraries have changed in this one."""

    variables: tuple[str, ...]  # NAME=VALUE
    limits: tuple[tuple[int, int, int], ...]  # number, soft and hard limit; -1: none
    umask: int

    def parts(self) -> list[tuple[str, bytes]]:
        """Return its parts of a request."""
        parts = [("v", os.fsencode(v)) for v in self.variables]
        parts += [("L", f"{n} {soft & _NONE} {hard & _NONE}".encode()) for n, soft, hard in self.limits]
        return [*parts, ("U", f"{self.umask:o}".encode())]


#: How the kernel says that there is no limit.
_NONE = (1 << 64) - 1

#: The numbers of Linux's limits.
_NUMBERS = range(16)


def _limits_now() -> dict[int, tuple[int, int]]:
    return {n: resource.getrlimit(n) for n in _NUMBERS}


def _umask_now() -> int:
    """Return the umask without changing it; before Linux 4.7 the kernel does not tell."""
    try:
        with open("/proc/self/status", "rb") as f:
            return next(int(line.split()[1], 8) for line in f if line.startswith(b"Umask:"))
    except (OSError, StopIteration, ValueError):
        mask = os.umask(0o077)
        os.umask(mask)
        return mask


#: The limits and the umask when this module was imported: before a library had a reason to change them.
_limits, _umask = _limits_now(), _umask_now()


def process_given(variables: Mapping[str, str]) -> Process:
    """Return the process that a build is given: variables, and the limits and umask of when this module was imported.

    A library may have changed a limit since, in this process and not on the job's other
    ranks (gmsh raises that of the stack). If it has lowered a hard limit for good, the
    build gets the limit as it is now.
    """
    limits = tuple((number, *_limit_given(number)) for number in _limits)
    return Process(tuple(f"{name}={value}" for name, value in variables.items()), limits, _umask)


def _limit_given(number: int) -> tuple[int, int]:
    then, now = _limits[number], resource.getrlimit(number)
    return then if then[1] & _NONE <= now[1] & _NONE or _can_raise(number, now, then[1]) else now


def _can_raise(number: int, now: tuple[int, int], hard: int) -> bool:
    """Return whether the process may raise a hard limit: it tries, and takes that back."""
    try:
        resource.setrlimit(number, (now[0], hard))
    except (OSError, ValueError):
        return False
    resource.setrlimit(number, now)
    return True


def environment_without(variables: Mapping[str, str], words: Sequence[str]) -> dict[str, str]:
    """Return variables without those that words withhold by name, for a build without the library."""
    withheld = [word[1:] for word in words if word.startswith("-")]
    return {n: value for n, value in variables.items() if not any(fnmatchcase(n, p) for p in withheld)}
