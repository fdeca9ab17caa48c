"""What a compile looked at, written down while it goes on.

Numba remembers what it has typed and compiled: a second compile in a process uses
what the first has made and looks at nothing. So all is written down for each thing
that is made, and counts for whatever uses it later.
"""

from __future__ import annotations

import os
import sys
import threading
import types as pytypes
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache._module_files import content, file_of, has_file

from ._code import Unkeyable, code_of, versioned, versioned_module
from ._registered import registrations
from ._walk import Walker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._world import Question

#: Modules that a compile was the first to import: another that uses what it made does not see them being imported.
#: With what their names meant at the end of that compile.
late: dict[str, dict[Names, bytes]] = {}


_NOT_IMPORTED = b"not imported"


class Names(NamedTuple):
    """Names that code looks up among a module's globals, if Python runs it by whatever name else."""

    module: str
    names: tuple[str, ...]
    runs: bool

    def value(self, walker: Walker) -> bytes:
        """Return what they mean now. Raises Unkeyable."""
        found = sys.modules.get(self.module)
        if found is None:
            return _NOT_IMPORTED
        if isinstance(found, pytypes.ModuleType):
            now = walker.names(found.__dict__, self.names, runs=self.runs)
        else:
            now = walker.held(found, self.names)
        first = late.get(self.module)
        if first is None:
            return now
        if self.module in here.importing:
            first[self] = now
        return _NOT_IMPORTED if first.get(self) == now else now


class Warned(NamedTuple):
    """A warning of Numba's: the name of its class, its text, and where it points to."""

    category: str
    text: str
    file: str
    line: int


def names_in(code: pytypes.CodeType) -> tuple[str, ...]:
    """Return all names and texts in code, by which it may look something up."""
    described = code_of(code)
    return (*described[1], *described[2])


class Seen:
    """What was looked at; one is made for each thing that Numba makes."""

    def __init__(self) -> None:
        self.asked: dict[str, set[str]] = {}
        self.files: dict[str, bytes | None] = {}  # modules', or read, with content
        self.names: dict[Names, bytes] = {}
        self.compiled: dict[pytypes.CodeType, str] = {}  # by Numba, with the modules
        self.world: dict[Question, str | None] = {}  # what was asked of it, with the answers
        self.codes: set[pytypes.CodeType] = set()  # that have no file
        self.described: set[pytypes.CodeType] = set()  # by value, in what the names mean
        self.warnings: dict[Warned, None] = {}  # of Numba's, that were shown
        self.refused: tuple[str, str] | None = None
        self.registered = 0  # how much was, at the latest
        self._ran: dict[int, pytypes.CodeType] = {}  # by id; a code object's hash is slow

    def refuse(self, reason: str, what: object = "") -> None:
        """Say that what is made depends on something that cannot be seen."""
        self.refused = self.refused or (reason, str(what))

    def ask(self, name: str, *about: str) -> None:
        """Note that Numba was asked for something that others may register."""
        self.asked.setdefault(name, set()).update(about)

    def add(self, other: Seen) -> None:
        """Add what something depends on that is used."""
        for name, about in other.asked.items():
            self.asked.setdefault(name, set()).update(about)
        self._agree(self.files, other.files)
        self._agree(self.names, other.names)
        self._agree(self.world, other.world)
        self.codes |= other.codes
        self.described |= other.described
        self.compiled.update(other.compiled)
        self.warnings.update(other.warnings)
        self.refused = self.refused or other.refused
        # What was registered after it was made is not in it, if it would count.
        try:
            for registration in registrations.counting(other.asked, other.registered):
                self.refuse("changed while it was compiled", registration.name)
        except Exception as e:  # noqa: BLE001 - a cache never fails the program
            self.refuse("error", f"{type(e).__name__}: {e}")

    def note_registered(self) -> None:
        """Note how much is registered, of which all that counts was looked at."""
        try:
            self.registered = len(registrations.all())
        except Exception as e:  # noqa: BLE001 - a cache never fails the program
            self.refuse("error", f"{type(e).__name__}: {e}")

    def _agree(self, mine: dict[Any, Any], theirs: dict[Any, Any]) -> None:
        for label, value in theirs.items():
            if mine.setdefault(label, value) != value:
                self.refuse("changed while it was compiled", label)

    # -- what is seen

    def ran(self, frame: pytypes.FrameType) -> None:
        """Note code that Python begins to run."""
        code, space = frame.f_code, frame.f_globals
        if id(code) in self._ran:
            return
        self._ran[id(code)] = code
        if "__subclasses__" in code.co_names:
            self.refuse("subclasses", code.co_name)
        name = space.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        ours = module is not None and module.__dict__ is space and not versioned_module(module)
        path = code.co_filename
        if not has_file(path):
            caller = frame.f_back
            if not space.get("__builtins__", True):
                return  # that of named tuples can reach nothing
            # Numba and Python run code of their own making, too.
            if ours or caller is None or not versioned(caller.f_code.co_filename):
                self.codes.add(code)
        elif ours and _same(file_of(module), path):
            self.files[str(name)] = None
        else:
            self.read(path, imported=True)
        if ours and code.co_name == "<module>":
            late[str(name)] = {}
            here.importing.add(str(name))
        if ours:
            self._look(Names(str(name), names_in(code), True))

    def compile(self, function: pytypes.FunctionType) -> None:
        """Note a function that Numba compiles: what its names mean is constant."""
        code, name = function.__code__, function.__globals__.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and module.__dict__ is function.__globals__:
            self.compiled[code] = str(name)
            self._look(Names(str(name), names_in(code), False))
        else:
            self.compiled[code] = ""

    def _look(self, label: Names) -> None:
        if label not in self.names:
            try:
                walker = Walker()
                self.names[label] = label.value(walker)
                self.described |= walker.codes
            except Exception as e:  # noqa: BLE001 - a cache never fails the program
                self.refuse(getattr(e, "reason", "error"), f"{label.module}: {type(e).__name__}: {e}")

    def imported(self, module: Any, names: tuple[str, ...]) -> None:
        """Note that code imports a module, or what stands for one, and looks into it by some names."""
        is_module = isinstance(module, pytypes.ModuleType)
        if is_module and versioned_module(module):
            return
        name = module.__name__ if is_module else None
        if name is None or sys.modules.get(name) is not module:
            name = next((n for n, m in list(sys.modules.items()) if m is module), None)
        if name is None:
            self.refuse("no file", f"{module} is not where modules are")
            return
        path = file_of(module) if is_module else None
        if path is not None and has_file(path):
            self.files[name] = None
        self._look(Names(name, names, True))

    def ask_world(self, question: Question) -> None:
        """Note that something was asked of the world."""
        self.world[question] = question.answer()

    def read(self, path: str, *, imported: bool = False) -> None:
        """Note that a file was read, or imported before."""
        try:
            self.files[os.path.abspath(path)] = content(os.path.abspath(path), imported=imported)
        except Unkeyable as e:
            self.refuse(e.reason, e)


def _same(one: str | None, other: str) -> bool:
    return one is not None and os.path.abspath(one).rpartition(".")[0] == os.path.abspath(other).rpartition(".")[0]


class _Here(threading.local):
    def __init__(self) -> None:
        self.open: list[Seen] = []
        self.watching = False
        self.won: Any = None
        self.importing: set[str] = set()  # modules, by the compile that goes on


here = _Here()
_made: weakref.WeakKeyDictionary[Any, dict[Any, Seen]] = weakref.WeakKeyDictionary()


def current() -> Seen | None:
    """Return what this thread's compile has looked at so far, None if none goes on."""
    return here.open[-1] if here.open else None


@contextmanager
def making(thing: Any = None, how: Any = None) -> Iterator[Seen]:
    """Write down what the block looks at, for the thing that it makes or uses."""
    seen = Seen()
    here.open.append(seen)
    try:
        yield seen
    finally:
        here.open.pop()
        outer = current()
        if outer is None:
            here.importing.clear()
        seen.note_registered()
        if thing is not None:
            known = _made.setdefault(thing, {})
            if how in known:
                before = known[how]
                before.add(seen)
                seen = before
            known[how] = seen
        if outer is not None:
            outer.add(seen)


def is_made(thing: Any, how: Any) -> bool:
    """Return whether it was written down how a thing was made."""
    return how in _made.get(thing, ())
