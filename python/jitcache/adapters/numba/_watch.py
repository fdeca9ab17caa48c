"""Watching: what Python code runs, imports and reads while Numba compiles.

From Python 3.12 on, the interpreter's monitoring reports which code starts; for code of
Numba, NumPy and Python itself it is switched off at the first start. Before 3.12, a
profile function reports it. With that a compile takes twice as long, so it is set only
while Numba calls code of others. What code reads from outside is seen by Python's audit
events. Functions that raise none are replaced where code looks them up.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import errors
from numpy import __file__ as numpy_file

from jitcache._fork import ForkLock
from jitcache._memoize.audit import HARMLESS

from . import _world
from ._code import OURS, is_quiet, is_standard, versioned
from ._seen import Seen, current, here, names_in
from ._versioned import original as own_of
from ._versioned import put_instead, readers
from ._warned import catching, giving, giving_at, showing
from ._world import ENTRY, FOLDER, MODULE, STATUS, VARIABLE, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_lock = ForkLock()
_watching = 0  # how many compiles are watched
_monitoring = getattr(sys, "monitoring", None)
_tool: int | None = None

# -- what starts


def _starts(code: Any, _offset: int) -> Any:
    if is_quiet(code.co_filename):
        return _monitoring.DISABLE  # type: ignore[union-attr]
    seen = current()
    if seen is not None and not here.quiet:
        _quietly(seen.ran, sys._getframe(1))
    return None


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    here.quiet = True
    try:
        return function(*args)
    except Exception as e:  # noqa: BLE001 - a cache never fails the program
        here.open[-1].refuse("error", f"{type(e).__name__}: {e}")
        return None
    finally:
        here.quiet = False


def _start_monitoring() -> bool:
    """Turn monitoring on, with a tool id that nobody uses. Returns False if there is none."""
    global _tool
    if _monitoring is None:
        return False
    if _tool is None:
        for tool in (4, 3, 5, 2):
            if _monitoring.get_tool(tool) is None:
                _monitoring.use_tool_id(tool, "jitcache")
                _monitoring.register_callback(tool, _monitoring.events.PY_START, _starts)
                _tool = tool
                break
    if _tool is not None:
        _monitoring.set_events(_tool, _monitoring.events.PY_START)
    return _tool is not None


def _stop_monitoring() -> None:
    if _tool is not None and _monitoring is not None:
        _monitoring.set_events(_tool, 0)


def _profile(frame: Any, event: str, _arg: Any) -> None:
    if event != "call" or here.quiet:
        return
    code = frame.f_code
    if not is_quiet(code.co_filename):
        seen = current()
        if seen is not None:
            _quietly(seen.ran, frame)


def observed(function: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """Call code that is not Numba's, and note what runs."""
    if _tool is not None or not here.open:
        return function(*args, **more)
    before = sys.getprofile()
    if before is not None and before is not _profile:
        here.open[-1].refuse("profiler", "another one is set, so it cannot be seen what runs")
        return function(*args, **more)
    sys.setprofile(_profile)
    try:
        return function(*args, **more)
    finally:
        sys.setprofile(before)


@contextmanager
def unobserved() -> Iterator[None]:
    """Within the block, Numba runs without the profile function, though code of others has called it."""
    before = sys.getprofile()
    if before is not _profile:
        yield
        return
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)


# -- what is read


class _Readers(dict[str, bool]):
    """Whether reads by code of a file need not be seen: it is Numba's or ours. Each import in a function asks."""

    def __missing__(self, path: str) -> bool:
        own = versioned(path) and not is_standard(path) and not path.startswith(_NUMPY)
        self[path] = own or path.startswith(OURS)
        return self[path]


_own = _Readers()


def _asker() -> Any:
    """Return the frame of others' code that reads something; None if Numba reads, or outside a compile."""
    if not _watching or here.quiet or not here.open:
        return None
    here.quiet = True  # a look at a frame raises audit events, at 2 us each if these were looked into
    try:
        frame: Any = sys._getframe(2)
        while frame is not None:
            path = frame.f_code.co_filename
            if _own[path] or not is_standard(path):
                return None if _own[path] else frame
            frame = frame.f_back
        return None
    finally:
        here.quiet = False


_NUMPY = os.path.join(os.path.dirname(numpy_file), "")


def _reading_variable(original: Callable[..., Any]) -> Callable[..., Any]:
    def getitem(self: Any, key: Any) -> Any:
        is_environment = self is os.environ or self is os.environb
        if not is_environment or not isinstance(key, (str, bytes)) or _asker() is None:
            return original(self, key)
        world, question = here.open[-1].world, Question(VARIABLE, os.fsdecode(key))
        world[question] = None
        value = original(self, key)
        world[question] = os.fsdecode(value)
        return value

    return getitem


def _reading_all(original: Callable[..., Any]) -> Callable[..., Any]:
    def all_of(self: Any) -> Any:
        if _asker() is not None:
            here.open[-1].refuse("environment", "all variables are read")
        return original(self)

    return all_of


def _reading_behind(original: Callable[..., Any]) -> Callable[..., Any]:
    def getattribute(self: Any, name: str) -> Any:
        """Refuse what may show the variables otherwise: the dictionary behind, a copy or a pickle of it."""
        if (
            name not in _world.SEEN_OF_ENVIRONMENT
            and sys._getframe(1).f_code.co_filename != _world.OS  # those methods
            and _asker() is not None
        ):
            here.open[-1].refuse("environment", f"{name} of all variables is read")
        return original(self, name)

    return getattribute


#: Events on whose outcome no code depends: those of memoize, and these. All others count.
_HARMLESS = (HARMLESS | {"pickle.find_class", "time.sleep"}) - _world.OF_FRAMES

_FOLDERS = frozenset(("glob.glob", "os.fwalk", "os.listdir", "os.scandir", "os.walk"))


def _on_event(event: str, args: tuple[Any, ...]) -> None:
    """Note what others' code asks the system for. This is an audit hook, which Python cannot remove again."""
    if _watching and not here.quiet and event not in _HARMLESS:
        if event in _world.OF_FRAMES:
            # Numba asks for the code of functions often.
            of_function = len(args) > 1 and args[1] in _world.OF_FUNCTIONS
            if of_function or not here.open or not _quietly(_looks_around):
                return
        frame = _asker()
        # Imports open files too; what is imported counts by itself.
        if frame is not None and not _imports(frame):
            _quietly(_asked, here.open[-1], event, args)


def _looks_around() -> bool:
    """Whether code gets a frame, in which it finds what any caller holds. Python's own looks for names and lines."""
    path = sys._getframe(3).f_code.co_filename
    return not is_quiet(path) or path == _world.INSPECT


def _asked(seen: Seen, event: str, args: tuple[Any, ...]) -> None:
    if event != "open":
        seen.refuse("file" if event in _FOLDERS else "system", f"{event} {args[0] if args else ''}")
    elif isinstance(args[0], int):
        seen.refuse("file", f"descriptor {args[0]} is opened")
    elif args[2] & os.O_ACCMODE != os.O_RDONLY:
        seen.refuse("file", f"{os.fsdecode(args[0])} is written")  # a hit would not write it
    else:
        seen.read(os.fsdecode(args[0]))


def _imports(asker: Any) -> bool:
    """Whether the event comes from an import in others' code."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame is not asker:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


#: Functions of Python's that ask for a file's status, and tell no more of it than what and where it is.
_ASKS_WHAT = frozenset((
    "_joinrealpath", "checkcache", "exists", "is_dir", "is_file", "is_symlink", "isdir", "isfile", "islink", "lexists",
    "resolve", "updatecache",
))  # fmt: skip


def _ask_status(path: Any) -> None:
    """Note that code of others may learn when a file was written, and who may use it."""
    frame: Any = sys._getframe(2)
    while frame is not None and is_standard(frame.f_code.co_filename):
        if frame.f_code.co_name in _ASKS_WHAT:
            return
        frame = frame.f_back
    _quietly(here.open[-1].ask_world, Question(STATUS, os.path.abspath(os.fsdecode(path))))


def _looking(original: Callable[..., Any]) -> Callable[..., Any]:
    def looked(path: Any = ".", *args: Any, **more: Any) -> Any:
        if _asker() is not None:
            known = isinstance(path, (str, bytes, os.PathLike))
            if known and _quietly(os.path.isfile, path):
                _quietly(here.open[-1].read, os.fsdecode(path))
                _ask_status(path)
            else:
                here.open[-1].refuse("file", f"code asks whether {path} exists, or what it is")
        return original(path, *args, **more)

    return looked


def _following(original: Callable[..., Any]) -> Callable[..., Any]:
    def followed(path: Any, *args: Any, **more: Any) -> Any:
        if _asker() is not None:
            if _quietly(os.path.isfile, path):
                _quietly(here.open[-1].read, os.fsdecode(path))
            _quietly(here.open[-1].ask_world, Question(ENTRY, os.fsdecode(path)))
            _ask_status(path)
        return original(path, *args, **more)

    return followed


def _using_number(original: Callable[..., Any]) -> Callable[..., Any]:
    def used(number: Any, *args: Any, **more: Any) -> Any:
        if _asker() is not None:
            here.open[-1].refuse("file", f"{number}, which is open, is read")
        return original(number, *args, **more)

    return used


def _beginning(original: Callable[..., Any]) -> Callable[..., Any]:
    def began(self: Any) -> Any:
        if _asker() is not None:
            here.open[-1].refuse("system", "a thread is started, which is not watched")
        return original(self)

    return began


def _placing(original: Callable[..., Any]) -> Callable[..., Any]:
    def placed() -> Any:
        if _asker() is not None:
            _quietly(here.open[-1].ask_world, Question(FOLDER, ""))
        return original()

    return placed


class _Finder:
    """The first finder of ``sys.meta_path``: it finds no module, and notes which ones are looked for.

    It is never removed: a thread that goes through the finders meanwhile would skip the next one.
    """

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        """Note the name, and find nothing."""
        if _watching and _asker() is not None:
            _quietly(here.open[-1].ask_world, Question(MODULE, name))


_finder = _Finder()


def _importing(original: Callable[..., Any]) -> Callable[..., Any]:
    def imported(*args: Any, **more: Any) -> Any:
        frame = _asker()
        try:
            module = original(*args, **more)
        except ModuleNotFoundError as e:
            if frame is not None and e.name:
                _quietly(here.open[-1].ask_world, Question(MODULE, e.name))
            raise
        if frame is not None:
            names = names_in(frame.f_code)
            found = [getattr(module, str(n), None) for n in (args[3] if len(args) > 3 and args[3] else ())]
            for one in (module, *(m for m in found if isinstance(m, type(sys)))):
                _quietly(here.open[-1].imported, one, names)
        return module

    return imported


#: The functions that read from outside, and those that give and show warnings: object, attribute, and what makes the
#: replacement that stands there during a watch.
READS: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (type(os.environ), "__getitem__", _reading_variable),
    *((type(os.environ), name, _reading_all) for name in ("__iter__", "__len__", "__repr__")),
    (type(os.environ), "__getattribute__", _reading_behind),
    (threading.Thread, "start", _beginning),
    (os, "stat", _looking),
    (os, "access", _looking),
    (os, "lstat", _following),
    (os, "readlink", _following),
    (os, "getcwd", _placing),
    (os, "getcwdb", _placing),
    *((os, name, _using_number) for name in ("fstat", "pread", "preadv", "read", "readv")),
    (builtins, "__import__", _importing),
    (importlib, "import_module", _importing),
    (warnings, "_showwarnmsg", showing),
    (errors.WarningsFixer, "catch_warnings", catching),
    (warnings, "warn", giving),
    (warnings, "warn_explicit", giving_at),
]
# Not warnings, which are given, and not the look-up of attributes, which all objects share.
readers.extend(getattr(o, name) for o, name, _ in READS if o is not warnings and name != "__getattribute__")
_listens = False


def _put_ours() -> None:
    # Also if another finder comes first by now, which may find the module. It does no harm if ours is asked twice.
    if sys.meta_path[:1] != [_finder]:
        sys.meta_path.insert(0, _finder)
    for owner, name, make in READS:
        own = own_of(getattr(owner, name))  # ours may stand there: somebody may have kept it and put it back
        instead = make(own)
        put_instead(instead, own)
        setattr(owner, name, instead)


def _take_ours() -> None:
    """Put the originals back. A wrapper that others have put around ours stays; ours then only calls the original."""
    for owner, name, _ in READS:
        stands = getattr(owner, name, None)
        own = own_of(stands)
        if own is not stands:
            setattr(owner, name, own)


def _begin() -> None:
    global _watching, _listens
    with _lock():
        _watching += 1
        if not _listens:
            _listens = True
            sys.addaudithook(_on_event)
        if _watching == 1:
            _start_monitoring()
            _put_ours()


def _end() -> None:
    global _watching
    with _lock():
        _watching -= 1
        if _watching == 0:
            _stop_monitoring()
            _take_ours()


@contextmanager
def watching() -> Iterator[None]:
    """Watch what Numba runs while it compiles in this thread."""
    if here.watching:
        yield
        return
    here.watching = True
    _begin()
    try:
        yield
    finally:
        _end()
        here.watching = False


def _after_fork() -> None:
    """Correct the number of watches in a child: it has only the thread that forked, in one watch or in none."""
    global _watching
    if _watching and not here.watching:
        _watching = 1
        _end()
    elif _watching:
        _watching = 1


os.register_at_fork(after_in_child=_after_fork)
