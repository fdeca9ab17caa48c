"""What a compile looks at, noted while it runs.

Numba keeps what it has typed and compiled: a second compile in a process uses what the
first has made, without looking at anything. So what was looked at is noted for each
thing that is made, and counts for everything that uses the thing later.
"""

from __future__ import annotations

import sys
import threading
import types as pytypes
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core.types import Type

from jitcache._module_files import has_file

from ._code import Unkeyable, code_of, versioned_class, versioned_module
from ._key import state_of
from ._others import is_of_numba
from ._plain import is_plain
from ._registered import registrations
from ._walk import Walker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Names(NamedTuple):
    """Names that code which Numba compiles looks up among a module's globals."""

    module: str
    names: tuple[str, ...]

    def value(self, walker: Walker) -> bytes:
        """Return as bytes what the names mean now. Raises Unkeyable."""
        found = sys.modules.get(self.module)
        if not isinstance(found, pytypes.ModuleType):
            raise Unkeyable("no file", f"{self.module} is not where modules are")
        return walker.names(found.__dict__, self.names)


def names_in(code: pytypes.CodeType) -> tuple[str, ...]:
    """Return all names and strings in code: it may look something up by any of them."""
    described = code_of(code)
    return (*described[1], *described[2])


class Seen:
    """What was looked at to make one thing of Numba's."""

    def __init__(self) -> None:
        self.asked: dict[str, set[str]] = {}
        self.names: dict[Names, bytes] = {}
        self.compiled: dict[pytypes.CodeType, str] = {}  # code that Numba compiled, with its module's name
        self.described: set[pytypes.CodeType] = set()  # code that is described by value in names
        # The state of each function when it was compiled, or when Numba made a thing from it, which may be before.
        self.states: dict[weakref.ref[Any], bytes | None] = {}
        self.warned = ""  # the text of a warning that was given, "" if there was none
        self.refused: tuple[str, str] | None = None
        self.others = ""  # code of others that Python ran, "" if there was none
        self.registered = 0  # how many registrations there were at the last look

    def refuse(self, reason: str, what: object = "") -> None:
        """Note why the result must not be kept; the first reason stays."""
        self.refused = self.refused or (reason, str(what))

    def run_others(self, what: object) -> None:
        """Note that Python ran code of others. It may have read anything, which no source says."""
        self.others = self.others or str(what) or "a function"

    def ask(self, name: str, *about: str) -> None:
        """Note that Numba was asked for something that others may register."""
        self.asked.setdefault(name, set()).update(about)

    def add(self, other: Seen) -> None:
        """Add what a used thing depends on."""
        for name, about in other.asked.items():
            self.asked.setdefault(name, set()).update(about)
        self._agree(self.names, other.names)
        self._agree(self.states, other.states)
        self.described |= other.described
        self.compiled.update(other.compiled)
        self.refused = self.refused or other.refused
        self.inherit(other)
        # What was registered after the thing was made is not in it, but would count if it were made now.
        try:
            for registration in registrations.counting(other.asked, other.registered):
                self.refuse("changed while it was compiled", registration.name)
        except Exception as e:  # noqa: BLE001 - a cache never fails the program
            self.refuse("error", f"{type(e).__name__}: {e}")

    def inherit(self, other: Seen) -> None:
        """Note that code of others ran, or a warning was given, to make a thing that is used."""
        self.others = self.others or other.others
        self.warned = self.warned or other.warned

    def note_registered(self) -> None:
        """Note how many registrations there are: those up to here that count were looked at."""
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
        """Note code that Python begins to run, if it is of others."""
        code, space = frame.f_code, frame.f_globals
        name = space.get("__name__")
        if not has_file(code.co_filename):
            if not space.get("__builtins__", True):
                return  # code of named tuples, which has no builtins and can reach nothing
            module = sys.modules.get(name) if isinstance(name, str) else None
            is_numba_s = module is not None and module.__dict__ is space and versioned_module(module)  # a dataclass's
            if is_numba_s or is_of_numba(frame):
                return
        if not is_plain(code, space, frame.f_locals):
            self.run_others(f"{name}.{code.co_name}")

    def note_state(self, function: pytypes.FunctionType, state: bytes | None) -> None:
        """Note the state in which a function was compiled or loaded."""
        label = weakref.ref(function)
        here.states[label] = state
        self._agree(self.states, {label: state})

    def note_maker(self, thing: Any) -> None:
        """Note the state of a function or class of others from which Numba makes something that it keeps."""
        label = weakref.ref(thing)
        if label not in here.states:
            before, here.quiet = here.quiet, True
            try:
                here.states[label] = state_now(thing)
            finally:
                here.quiet = before
        self._agree(self.states, {label: here.states[label]})

    def note_types(self, types: Iterable[Any]) -> None:
        """Note the states of those types that have classes of others. Numba tells them apart by their keys only."""
        for t in types:
            for one in _types_in(t, []):
                if not versioned_class(type(one)):
                    self.note_maker(one)

    def require_same_states(self) -> None:
        """Raise Unkeyable if something was compiled, or used, in another state than it has now."""
        now = here.states if here.open else {}
        for label, state in self.states.items():
            thing = label()
            if thing is None:
                continue
            if label not in now:
                now[label] = state_now(thing)
            if now[label] != state:
                raise Unkeyable("changed while it was compiled", f"{thing}, which was used before")

    def compile(self, function: pytypes.FunctionType) -> None:
        """Note a function that Numba compiles, with what its names mean: Numba treats that as constant."""
        self.note_state(function, state_now(function))
        code, name = function.__code__, function.__globals__.get("__name__")
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and module.__dict__ is function.__globals__:
            self.compiled[code] = str(name)
            self._look(Names(str(name), names_in(code)))
        else:
            self.compiled[code] = ""

    def _look(self, label: Names) -> None:
        if label not in self.names:
            try:
                walker = Walker()
                self.names[label] = label.value(walker)
                self.described |= walker.codes
                if walker.code_of_others:
                    self.run_others(walker.code_of_others)
            except Exception as e:  # noqa: BLE001 - a cache never fails the program
                self.refuse(getattr(e, "reason", "error"), f"{label.module}: {type(e).__name__}: {e}")


def state_now(thing: Any) -> bytes | None:
    """Return the present state of a function, a class or a type, None if it cannot be described. No hit asks for it."""
    try:
        if isinstance(thing, Type):
            return Walker().describe(thing)
        if isinstance(thing, type):
            return Walker().registered((thing,))
        return state_of(thing, Walker().root(thing))
    except Exception:  # noqa: BLE001 - from a value's own code, or something that cannot be described
        return None


def _types_in(value: Any, found: list[Any]) -> list[Any]:
    """Return a type with those that it holds: the types of a tuple's items, for example."""
    if isinstance(value, Type) and not any(value is one for one in found):
        found.append(value)
        for held in vars(value).values():
            for one in held if isinstance(held, (list, tuple)) else (held,):
                _types_in(one, found)
    return found


class _Here(threading.local):
    def __init__(self) -> None:
        self.open: list[Seen] = []
        self.watching = False
        self.quiet = False  # this thread runs code of ours, which is not noted
        self.catching: Any = None  # Python's filters of warnings, while Numba catches these to give them later
        self.won: Any = None  # the template that typed the last call
        # The states of functions at the first look of the present compile. They do not change during it: before it
        # stores something, it looks whether the function that it was asked for has the same state again.
        self.states: dict[weakref.ref[Any], bytes | None] = {}


here = _Here()
_made: weakref.WeakKeyDictionary[Any, dict[Any, Seen]] = weakref.WeakKeyDictionary()


def current() -> Seen | None:
    """Return what this thread's compile has looked at so far, None if there is no compile."""
    return here.open[-1] if here.open else None


@contextmanager
def making(thing: Any = None, how: Any = None) -> Iterator[Seen]:
    """Note what the block looks at, for the thing that it makes or uses."""
    seen = Seen()
    here.open.append(seen)
    if isinstance(thing, (type, pytypes.FunctionType)):
        seen.note_maker(thing)
    try:
        yield seen
    finally:
        here.open.pop()
        outer = current()
        if outer is None:
            here.states.clear()
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


def require_as_made(things: Iterable[Any]) -> None:
    """Raise Unkeyable if Numba has made something of one of these, keeps it, and would make it otherwise now."""
    for thing in things:
        for seen in list(_made[thing].values()) if thing in _made else ():
            seen.require_same_states()


def is_made(thing: Any, how: Any) -> bool:
    """Return whether it was noted what was looked at to make a thing."""
    return how in _made.get(thing, ())
