"""The world outside: what code asks about it, apart from the content of files, and the present answers."""

from __future__ import annotations

import inspect
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from jitcache._module_files import is_there

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE, MODULE, FOLDER, ENTRY, STATUS = "environment", "module", "folder", "entry", "status"

#: What code asks of the environment by name and is seen: methods, which get each variable by one that is watched.
SEEN_OF_ENVIRONMENT = frozenset((
    "__class__", "__contains__", "__delitem__", "__doc__", "__eq__", "__getitem__", "__ior__", "__iter__", "__len__",
    "__module__", "__ne__", "__or__", "__repr__", "__ror__", "__setitem__", "clear", "copy", "decodekey", "decodevalue",
    "encodekey", "encodevalue", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values",
))  # fmt: skip

#: Events with which code gets a frame, and what else raises one of them: attributes that count by value.
OF_FRAMES = frozenset(("object.__getattr__", "sys._getframe"))
OF_FUNCTIONS = frozenset(("__code__", "__defaults__", "__kwdefaults__"))

#: The files of two modules of Python.
OS, INSPECT = os.get_exec_path.__code__.co_filename, str(inspect.currentframe.__code__.co_filename)


def _entry(path: str) -> str | None:
    """Return the type of a path, and the target if it is a link."""
    try:
        mode = os.lstat(path).st_mode
        return f"{stat.S_IFMT(mode):o} {os.readlink(path) if stat.S_ISLNK(mode) else ''}"
    except OSError:
        return None


def _status(path: str) -> str | None:
    """Return who may use what is at a path, and when that was written."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return f"{found.st_mode:o} {found.st_uid} {found.st_gid} {found.st_size} {found.st_mtime_ns}"


_ANSWERS: dict[str, Callable[[str], str | None]] = {
    VARIABLE: os.environ.get,
    MODULE: lambda name: "there" if is_there(name) else None,
    FOLDER: lambda _: os.getcwd(),
    ENTRY: _entry,
    STATUS: _status,
}


class Question(NamedTuple):
    """A question that code asks: its kind, and what it is about."""

    kind: str
    about: str

    def answer(self) -> str | None:
        """Return the present answer."""
        return _ANSWERS[self.kind](self.about)

    def __str__(self) -> str:
        return f"{self.kind} {self.about}"
