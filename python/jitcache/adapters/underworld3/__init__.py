"""underworld3's cache of compiled solver functions, kept by jitcache.

    import underworld3
    from jitcache.adapters import underworld3 as adapter
    adapter.install()

``install`` replaces four functions of underworld3 by those below, which have the same
signatures. Nothing of underworld3 is changed on disk, and its environment variables
keep their meaning. Under MPI one rank compiles a module and sends it to the others,
and an error of the compiler is raised on all of them. docs/underworld3.md says what is
in a key and what differs.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jitcache import Cache, CompileError, Error, mpi
from jitcache._native_process import environment_words
from jitcache._native_ranks import built_on
from jitcache._native_request import built, key_of, look_up

from . import _build, _flat
from ._key import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from jitcache import Entry
    from jitcache._native_job import Command
    from jitcache._native_process import Environment

__all__ = ["BuildError", "compile_and_load", "get_cache_dir", "install", "load_module", "store_module"]

KIND = "native"

_Loaded = tuple["ModuleType", str]


class BuildError(CompileError, RuntimeError):
    """The compiler refused a module. It is a RuntimeError, as underworld3's own; ``log`` is the compiler's text."""


class _Host(NamedTuple):
    """The modules of underworld3 that the adapter uses, and its settings."""

    mpi: Any
    extension: Any
    flat: bool
    environment: tuple[str, ...]
    variables: dict[str, str]  # that underworld3 gave its builds when install was called


_host: _Host | None = None


def install(flat: bool = False, environment: Environment = None) -> None:
    """Make underworld3 keep its compiled modules in jitcache, in this process; not collective.

    Every rank of a job calls it, with the same arguments, before the first solve.
    ``flat``: also write the files that underworld3's own cache would have written
    (``<hash>.so``, ``<hash>.manifest.json``, ``.<hash>.lock``), as hard links of the
    entries; removing a ``<hash>.so`` then removes its entry. ``environment`` says which
    variables builds get, as for ``native.build``: "strict" is only what compilers and build
    systems obey. May be called again, to change either.

    Builds get the variables of ``os.environ`` as it is now, until ``install`` is called again,
    and the limits and umask that the process had when this module was imported. So what a
    library changes later in one rank alone does not count.

    Raises ImportError without underworld3, and Error if its functions are not where
    they are expected, or for a bad ``environment``.
    """
    global _host
    words = environment_words(environment)
    cache = importlib.import_module("underworld3.utilities._jit_cache")
    extension = importlib.import_module("underworld3.utilities._jitextension")
    ranks = importlib.import_module("underworld3.mpi")
    places = [(cache, get_cache_dir), (cache, load_module), (cache, store_module), (extension, compile_and_load)]
    for module, ours in places:
        if not hasattr(module, ours.__name__):
            raise Error(f"{module.__name__} has no {ours.__name__}: not a version of underworld3 that is known")
    # It reads files and starts compiler wrappers, which takes longer than a hit.
    variables_of = getattr(extension, "_petsc_build_env", None)
    _host = _Host(ranks, extension, flat, words, dict(os.environ if variables_of is None else variables_of()))
    for module, ours in places:
        setattr(module, ours.__name__, ours)
    directory = _directory()
    if directory is not None and directory.is_dir():
        with contextlib.suppress(Error):  # who needs it hears of it
            _cache(directory)  # loads the library, which takes longer than a hit
            _wish("", "")  # finds what all modules depend on, which takes a tenth of a hit


def get_cache_dir() -> Path | None:
    """Return the directory of the cache, None if the cache is switched off; not collective.

    ``UW_JIT_CACHE``, ``UW_JIT_CACHE_DIR`` and ``XDG_CACHE_HOME`` decide, and are read at
    each call. For ``getext`` in a job of several ranks the result is None: every rank
    then calls ``compile_and_load``.
    """
    if _in_getext() and _asked.together:
        return None
    return _directory()


def load_module(source_hash: str, modname: str, constants_manifest: _flat.Constants) -> ModuleType | None:
    """Return the module if it is in the cache and can be loaded, else None; not collective.

    Never waits, even if another process is compiling the module. The names in
    ``constants_manifest`` are not used: they are not in the code. For ``getext`` in a
    job of several ranks the result is always None, so that all ranks call
    ``compile_and_load``, whatever each of them would find.
    """
    del constants_manifest
    directory = _directory()
    _asked.modname, _asked.source_hash = modname, source_hash
    _asked.together = _in_getext() and _installed().mpi.size > 1
    if _asked.together or directory is None:
        return None
    cache, wish = _cache(directory), _wish(source_hash, modname)
    if _is_removed(directory, source_hash):
        _remove(cache, wish)
    entry = look_up(wish, cache)
    if entry is None:
        return None
    with entry:
        try:
            module = _build.module_at(modname, entry.path)
        except Exception:  # noqa: BLE001  the code of a module may raise anything
            _remove(cache, wish)  # the module that is compiled next replaces it
            return None
    _asked.modname = ""
    return module


def store_module(
    source_hash: str, modname: str, tmpdir: str | os.PathLike[str], constants_manifest: _flat.Constants
) -> None:
    """Write the files of a module, with ``flat`` and on rank 0 only; not collective.

    A module that ``compile_and_load`` returned is in the cache already. A module that
    something else has compiled is not put into the cache, because it is not known what
    it depends on. It is no error if the directory does not take the files.
    """
    directory = _directory()
    if directory is None or _installed().mpi.rank != 0 or not _installed().flat:
        return
    with contextlib.suppress(OSError, Error):
        if _build.is_own(tmpdir):
            entry = look_up(_wish(source_hash, modname), _cache(directory))
            if entry is not None:
                with entry:
                    _flat.write(directory, source_hash, modname, constants_manifest, entry.view, entry.path)
            return
        found = sorted(Path(tmpdir).glob("*.so"))
        if found:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _flat.write(directory, source_hash, modname, constants_manifest, found[0].read_bytes())


def compile_and_load(modname: str, codeguys: _build.Texts, verbose: bool = False) -> tuple[ModuleType, str]:
    """Return the module, and a folder with its sources and shared object; **collective** for ``getext``.

    If ``load_module`` was called for this module just before, the module comes from
    the cache, or is compiled and stored: once, however many ranks and jobs want it; one
    that compiles it is waited for. Else underworld3 was told ``cache=False``, or its
    cache is switched off, and the module is compiled here and not stored. The folder
    belongs to this process, and is removed when it exits.

    Raises BuildError, which is a RuntimeError, with the compiler's output; Error for
    any other failure. In a job, every rank raises.
    """
    directory = _directory()
    source_hash = _asked.source_hash if _asked.modname == modname else ""
    comm = _installed().mpi.comm if source_hash and _asked.together else None
    _asked.modname, _asked.together = "", False
    try:
        # The cache may be switched off on some ranks alone.
        if source_hash and any(mpi.together(comm, lambda: directory is not None)):
            return _obtain(comm, directory, source_hash, modname, codeguys)
        with built(_command(modname, (), codeguys), None, None) as entry:
            return _build.load(modname, codeguys, entry.view)
    except CompileError as e:
        if verbose:
            print(e.log, flush=True)  # noqa: T201  as underworld3 does
        what = _build.first_error(e.log) or str(e).partition("\n")[0]
        raise BuildError(f"{modname}: {what}", e.log, e.command) from e


def _obtain(comm: Any, directory: Path | None, source_hash: str, modname: str, texts: _build.Texts) -> _Loaded:
    """Return the module, from the cache or the compiler, and its folder; collective if there is a communicator."""
    cache = None if directory is None else _cache(directory)
    wish = _wish(source_hash, modname, texts)
    got: list[_Loaded] = []

    def forget(damaged: bool) -> None:
        if cache is not None and directory is not None and (damaged or _is_removed(directory, source_hash)):
            _remove(cache, wish)

    def try_to_load(entry: Entry, last: bool) -> bool:
        try:
            with entry:
                got.append(_build.load(modname, texts, entry.view))
        except ImportError:
            if last:
                raise
        return bool(got)

    mpi.together(comm, lambda: forget(damaged=False))
    for last in (False, True):
        entry = built_on(comm, wish, cache)
        if all(mpi.together(comm, lambda: try_to_load(entry, last))):  # noqa: B023  called at once
            break
        # The file is intact, but at least one rank cannot load it as a module.
        got.clear()
        mpi.together(comm, lambda: forget(damaged=True))
    return got[0]


def _wish(source_hash: str, modname: str, texts: _build.Texts = ()) -> Command:
    """Return the command that builds a module; without texts it only serves to look the module up."""
    return _command(modname, labels_of(source_hash, modname), texts)


def _command(modname: str, labels: Sequence[tuple[str, str]], texts: _build.Texts) -> Command:
    host = _installed()
    return _build.command(modname, labels, texts, host.variables, KIND, environment=host.environment)


def _remove(cache: Cache, wish: Command) -> None:
    """Remove the entry that a wish would find."""
    key = None if cache._handle is None else key_of(wish, cache._handle)
    if key is not None:
        cache.remove(key)


# -- what is asked for


class _Asked(threading.local):
    """The module that a thread's last ``load_module`` was asked for, until ``compile_and_load`` returns it."""

    modname = ""
    source_hash = ""
    together = False  # whether getext asked, on all ranks of a job


_asked = _Asked()


def _in_getext() -> bool:
    """Return whether the caller is underworld3's ``getext``, which all ranks call at once, or a function it calls."""
    frame = sys._getframe(2)
    for _ in range(3):
        if frame is None or frame.f_code.co_name == "getext":
            break
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_name == "getext"


_caches: dict[Path, Cache] = {}


def _cache(directory: Path) -> Cache:
    """Return the cache in a directory. It keeps nothing in memory, so removing the directory clears it."""
    cache = _caches.get(directory)
    if cache is None:
        cache = _caches[directory] = Cache(directory, memory_size=0)
    return cache


def _directory() -> Path | None:
    if os.environ.get("UW_JIT_CACHE", "").lower() in ("0", "false", "no"):
        return None
    named = os.environ.get("UW_JIT_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg:
        return Path(xdg).expanduser() / "underworld3" / "jit"
    return Path.home() / ".cache" / "underworld3" / "jit"


def _installed() -> _Host:
    if _host is None:
        raise Error("jitcache.adapters.underworld3: not installed")
    return _host


def _is_removed(directory: Path, source_hash: str) -> bool:
    """Return whether the flat layout is used and a module's file is missing; its entry must then be removed."""
    return _installed().flat and not _flat.module_path(directory, source_hash).exists()
