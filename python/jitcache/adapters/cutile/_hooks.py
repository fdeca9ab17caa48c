"""Hooks: the functions of cuTile that the adapter replaces, so that what its compiler makes comes from the cache.

cuTile runs ``tileiras`` by one method: for each kernel, and once per process to ask
which bytecode it reads. Each run is an observed command in a private folder, with the
bytecode in it under a plain name. cuTile's own cache gets nothing and is asked for
nothing: its key has the version of the compiler, which takes another process to ask.
"""

from __future__ import annotations

import functools
import inspect
import logging
import os
import re
from typing import TYPE_CHECKING, Any

from cuda.tile import __version__, _compile

from jitcache import Error
from jitcache._errors import CompileError
from jitcache._native_job import Command, Source
from jitcache._native_request import built

from . import KIND, _cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jitcache import Cache

#: The functions that are replaced, and those of their parameters that matter here.
_PARAMETERS = {
    "cache_lookup": ["cache_dir", "key"],
    "cache_store": ["cache_dir", "key", "cubin", "metadata"],
    "evict_lru": ["cache_dir", "size_limit"],
    "_get_compiler_version_string": [],
    "_tileiras_supports_remarks": ["temp_dir"],
}
_RUN = ["self", "args", "flags", "timeout_sec"]
_ATTRIBUTES = {"path", "bin_path", "ld_path", "pass_cuda_home_var"}

#: cuTile's names of temporary files: what for, eight letters of tempfile's, and the ending.
_NAME = re.compile(r"(.*)\w{8}\.bytecode", re.DOTALL)

#: Which variables tileiras is given: those that compilers obey, and those that it, ptxas and libNVVM ask for (logged
#: for 13.4), with others of such names. All that it is given count: those of a batch system would miss in each job, and
#: the home and the name for each user.
_GIVEN = (
    "strict",
    "-HOME",
    "-USER",
    "-LOGNAME",
    "+CUDA_ROOT",
    "+CAN_FINALIZE_*",
    "+MLIR_*",
    "+TILE*",
    "+*LLVM*",
    "+*NVVM*",
)

_INPUT, _OUTPUT = "kernel.bytecode", "kernel.cubin"

# cuTile's own functions, while ours replace them, by the places where they are.
_originals: dict[tuple[Any, str], Any] = {}


def unfit() -> str:
    """Return the part of this cuTile that is not as the adapter expects, "" if there is none."""
    if _originals:
        return ""
    for name, wanted in _PARAMETERS.items():
        if _parameters(_compile, name)[: len(wanted)] != wanted:
            return f"cuda-tile {__version__}: {name}"
    binary = getattr(_compile, "_CompilerBinary", None)
    if _parameters(binary, "run") != _RUN or not set(getattr(binary, "__annotations__", ())) >= _ATTRIBUTES:
        return f"cuda-tile {__version__}: _CompilerBinary"
    return ""


def _parameters(place: Any, name: str) -> list[str]:
    try:
        return list(inspect.signature(getattr(place, name)).parameters)
    except (AttributeError, TypeError, ValueError):
        return ["unknown"]


def attach(cache: Callable[[], Cache]) -> None:
    """Replace cuTile's functions."""
    if _originals:
        return
    ours = {
        "cache_lookup": lambda *_, **__: None,
        "cache_store": lambda *_, **__: None,
        "evict_lru": lambda *_, **__: None,
        "_get_compiler_version_string": lambda: "jitcache",  # only a part of the key of cuTile's own cache
        "_tileiras_supports_remarks": lambda *_, **__: False,  # only for the list of cuTile's own cache
    }
    for name, function in ours.items():
        _replace(_compile, name, function)
    binary = _compile._CompilerBinary
    _replace(binary, "run", _running(cache, binary.run))


def _replace(place: Any, name: str, function: Any) -> None:
    _originals[place, name] = getattr(place, name)
    setattr(place, name, function)


def detach() -> None:
    """Put cuTile's functions back."""
    for (place, name), original in _originals.items():
        setattr(place, name, original)
    _originals.clear()


def _running(cache: Callable[[], Cache], original: Any) -> Any:
    """Return cuTile's method that runs tileiras; what that makes comes from the cache."""

    @functools.wraps(original)
    def run(self: Any, args: list[str], flags: list[str], timeout_sec: float | None = None) -> None:
        why, wish = _wish(self, args, flags)
        if wish is None:
            _cache.reasons[why] += 1
            original(self, args, flags, timeout_sec)
            return
        try:
            entry = built(wish, cache(), timeout_sec)
            if entry.refused:
                _cache.reasons[entry.refused] += 1
            with open(args[2], "wb") as f:
                f.write(entry.view)
        except CompileError:  # cuTile says in words of its own what is wrong
            original(self, args, flags, timeout_sec)
        except (Error, OSError) as e:
            _cache.reasons[type(e).__name__] += 1
            logging.getLogger("jitcache").info("cutile: %s: left to cuTile: %s: %s", wish.name, type(e).__name__, e)
            original(self, args, flags, timeout_sec)

    return run


def _wish(binary: Any, args: Sequence[str], flags: Sequence[str]) -> tuple[str, Command | None]:
    """Return a run of tileiras as an observed command; None for one that is left to cuTile, and why."""
    if len(args) != 3 or args[1] != "-o":
        return "other arguments", None
    if (why := _unlike_this_process(binary)) or (why := _unseen(flags)):
        return why, None
    named = _NAME.fullmatch(os.path.basename(args[0]))
    if named is None:
        return "other names of files", None
    try:
        with open(args[0], "rb") as f:
            source = Source(_INPUT, f.read())
    except OSError as e:
        return type(e).__name__, None
    words = (str(binary.path), _INPUT, "-o", _OUTPUT, *flags)
    given = _GIVEN if binary.pass_cuda_home_var else (*_GIVEN, "-CUDA_HOME", "-CUDA_PATH")
    return "", Command(words, (source,), _OUTPUT, None, (), KIND, named[1], environment=given)


def _unlike_this_process(binary: Any) -> str:
    """Return the variable that tileiras would be given otherwise than this process has it, "" for none."""
    given = {"PATH": binary.bin_path, "LD_LIBRARY_PATH": binary.ld_path}
    return next((f"another {name}" for name, value in given.items() if os.environ.get(name, "") != value), "")


def _unseen(flags: Sequence[str]) -> str:
    """Return why a run would not be the same in a private folder, "" if it would."""
    if any(flag.startswith("--remarks-output-file") for flag in flags):
        return "remarks"  # a second file, which a hit would not make
    paths = [path for flag, path in zip(flags, flags[1:]) if flag == "-l"]
    return "" if all(map(os.path.isabs, paths)) else "library without a folder"
