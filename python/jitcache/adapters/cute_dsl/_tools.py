"""Tools: the identity of CuTe DSL's compiler, and of the processor for which it compiles host code."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import sys
import time
from typing import TYPE_CHECKING, Any

from jitcache import File, Key, _processor
from jitcache._code import Unkeyable
from jitcache._fork import ForkLock
from jitcache._module_files import is_older_than_process, proves, stamp_of

from . import FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jitcache import Cache

#: The version of the stored format and of the way keys are made. It changes with either.
FORMAT = 3

# The prefix of the names of files that are no part of the installation.
_LIBRARY = "library "

_known: dict[tuple[str, ...], str] = {}
_lock = ForkLock()


def _files(package: str) -> Iterator[str]:
    """Yield the sources and shared libraries of a package."""
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".so")):
                yield os.path.join(folder, name)


@functools.lru_cache(maxsize=1)
def packages() -> tuple[str, ...]:
    """Return the folders of the DSL, and of TVM FFI if there is one. TVM FFI is not imported: that takes 30 ms."""
    import cutlass

    found = [os.path.dirname(os.path.abspath(str(cutlass.__file__)))]
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is not None:
        found += [os.path.abspath(path) for path in spec.submodule_search_locations or ()]
    return tuple(found)


def _content(libraries: Iterable[str]) -> dict[str, str]:
    """Return the paths of all files that determine the result, by names that do not depend on where they are."""
    found = {f"{_LIBRARY}{os.path.basename(path)}": path for path in libraries}
    for package in packages():
        found.update((os.path.basename(package) + path[len(package) :], path) for path in _files(package))
    return found


def compiler(cache: Cache, libraries: Iterable[str]) -> str:
    """Return the digest of the installed DSL, and of the libraries with which it runs code.

    The version alone is not enough: a source may be edited in place, and a nightly
    build has the version of the one before. Reading 250 MB takes 0.2 s, so it is done
    once per installation: the cache keeps the digest, by the files' time stamps. Raises
    Unkeyable if there is no cache, or if the installation was changed after the process
    started: then the process may have imported something else.
    """
    place = tuple(libraries)
    with _lock():
        if place not in _known:
            _known[place] = _digest(cache, _content(place))
        return _known[place]


def _digest(cache: Cache, files: dict[str, str]) -> str:
    began = time.time_ns()
    stats = {name: os.stat(path) for name, path in files.items()}
    for name, found in stats.items():
        if not name.startswith(_LIBRARY) and not is_older_than_process(found):
            raise Unkeyable("changed since the process started", files[name])
    stamps = [f"{n} {s.st_dev} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}" for n, s in stats.items()]
    memo = Key(files="\n".join(stamps)).named("cute-dsl")
    known = cache.get(memo, kind=FILES)
    if known is not None:
        return bytes(known).decode()
    if cache.last_miss in ("off", "unavailable", "closed"):
        raise Unkeyable(cache.last_miss)
    digest = Key({name: File(path) for name, path in files.items()}).hex
    if all(proves(stamp_of(found), began) for found in stats.values()):
        cache.put(memo, digest.encode(), kind=FILES)
    return digest


def versions(owner: Any) -> str:
    """Return the versions that this process has loaded. Other ones may be installed by now."""
    import cuda.bindings
    import cutlass

    lines = (
        f"{type(owner).__name__} {cutlass.__version__}",
        f"cuda-bindings {cuda.bindings.__version__}",
        f"python {sys.implementation.cache_tag}",  # the signature in an object is a pickle of Python's
        f"format {FORMAT}",
    )
    return "\n".join(lines)


@functools.cache
def processor() -> str:
    """Return the identity of this machine's processor. The DSL compiles host code for all of its features.

    An object with AVX-512 instructions ends a process on a processor without them.
    """
    said = _processor.description()
    if said is None:
        raise Unkeyable("unknown processor", platform.machine())
    text = f"{platform.machine()}\n{said}"
    return f"{platform.machine()} {hashlib.sha256(text.encode()).hexdigest()[:32]}"
