"""C, C++ and Cython to objects, shared libraries and extension modules, through the cache.

    from jitcache import native

    entry = native.build({"residual.c": text}, flags=["-O3"], libraries=["m"])
    native.load_shared(entry).residual

    entry = native.build(["solver.pyx"], kind="extension")
    native.load_extension(entry, "solver").solve()

A compile is recorded: every file that the compiler and the processes it starts look
at, the names that they look for in vain, the environment variables that they read. As
long as all of that is unchanged, a build runs no compiler. docs/native.md says more.
"""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING

from ._default import cache_of
from ._errors import CompileError
from ._native_job import BuildArguments, Job, Path, Sources, job_of, quote_flags, sources_of
from ._native_request import Built, built, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from ._cache import Cache
    from ._entry import Entry
    from ._key import Key
    from ._native_process import Environment

__all__ = ["Built", "CompileError", "build", "key", "load_extension", "load_shared"]


def _job(arguments: BuildArguments, cache: Cache | None, timeout: float | None) -> tuple[Job, str, str]:
    """Return the compile; and of the translation of Cython sources, why it missed and why it is not kept, or ""."""
    arguments.check()
    arguments = arguments.with_placeholders()
    sources = sources_of(arguments.sources, arguments.name)
    if any(s.name.endswith(".pyx") for s in sources):
        from . import _cython

        arguments = arguments._replace(flags=[*arguments.flags, *quote_flags(sources)])
        sources, missed, refused = _cython.translate(sources, arguments, cache, timeout)
        return job_of(arguments, sources), missed, refused
    return job_of(arguments, sources), "", ""


def build(
    sources: Sources,
    *,
    kind: str = "shared",
    name: str | None = None,
    flags: Sequence[Path] = (),
    include_dirs: Sequence[Path] = (),
    libraries: Sequence[str] = (),
    placeholders: Mapping[str, str] | None = None,
    cache: Cache | bool | None = None,
    compiler: Path | Sequence[str] | None = None,
    timeout: float | None = None,
    environment: Environment = None,
) -> Built:
    """Return the result of compiling the sources, from the cache or from the compiler.

    ``sources`` is a path, several, or a mapping of file names to texts, headers
    among them; the suffix tells C, C++ and Cython (.pyx). A str with a newline is
    a C source itself. ``kind`` is "shared", "object" or "extension", a module for this
    Python. ``name`` is what you call the result, to explain misses. ``flags`` are
    the compiler's, after those of CPPFLAGS and CFLAGS or CXXFLAGS; LDFLAGS and
    ``libraries`` follow the sources. ``placeholders`` maps names that differ from
    run to run to names that do not: the latter are compiled and looked up.
    ``cache`` is a Cache, None for the default one, or False for none.
    ``compiler`` is a command; default CC or CXX, else gcc, cc or clang. It may run
    for ``timeout`` seconds, None for as long as it takes. ``environment`` says which
    variables it gets: "strict" is only what compilers and build systems obey; in a list,
    "+NAME" is given and "-NAME" is not, * in a name standing for any text.

    However many threads and processes ask for the same at once, one compiles, and
    what it looks at is recorded: a later build hits if all of that is unchanged.
    ``missed`` of the result says what has changed. A result that cannot be repeated is
    compiled each time, and ``refused`` says why.
    Raises CompileError, with the compiler's ``log`` and ``command``; LibraryError
    without a compiler or Cython; Error for a bad argument; TypeError.
    """
    found = cache_of(cache)
    arguments = BuildArguments(sources, kind, name, flags, include_dirs, libraries, placeholders, compiler, environment)
    job, missed, refused = _job(arguments, found, timeout)
    entry = built(job, found, timeout)
    if not entry.hit:
        entry.missed = missed or entry.missed
    entry.refused = refused or entry.refused
    return entry


def key(
    sources: Sources,
    *,
    kind: str = "shared",
    name: str | None = None,
    flags: Sequence[Path] = (),
    include_dirs: Sequence[Path] = (),
    libraries: Sequence[str] = (),
    placeholders: Mapping[str, str] | None = None,
    cache: Cache | bool | None = None,
    compiler: Path | Sequence[str] | None = None,
    environment: Environment = None,
) -> Key | None:
    """Return the key under which ``build`` would find its result now, for ``Cache.explain`` or ``remove``.

    None if no result fits the files and variables as they are now, or without a
    cache. Cython sources are translated for it. Raises what ``build`` raises.
    """
    found = cache_of(cache)
    if found is None or found._handle is None:
        return None
    arguments = BuildArguments(sources, kind, name, flags, include_dirs, libraries, placeholders, compiler, environment)
    return key_of(_job(arguments, found, None)[0], found._handle)


def load_extension(entry: Entry, modname: str) -> ModuleType:
    """Load an extension module under a name, whatever name it was compiled with.

    The module is not put into ``sys.modules``. Whoever loads the same entry again in
    this process shares the module's state. Raises ImportError if the entry is no
    extension module.
    """
    import importlib.util
    import sys
    from importlib.machinery import ExtensionFileLoader

    own = _own_name(entry, modname)
    path = entry.path
    spec = importlib.util.spec_from_file_location(own, path, loader=ExtensionFileLoader(own, path))
    assert spec is not None
    assert spec.loader is not None
    before = sys.modules.get(own)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if own != modname:
        # Cython's modules put themselves into sys.modules.
        if before is None and sys.modules.get(own) is module:
            del sys.modules[own]
        module.__name__ = modname
    return module


def _own_name(entry: Entry, modname: str) -> str:
    """Return the name that the module was compiled with: that of its PyInit_ function."""
    last = modname.rpartition(".")[2]
    names = {str(m.decode()) for m in re.findall(rb"\0PyInit_(\w+)(?=\0)", entry.view)}
    if last in names or not names:
        return modname
    if len(names) > 1:
        raise ImportError(f"{modname}: the entry has {', '.join(sorted(names))}", name=modname)
    return str(names.pop())


def load_shared(entry: Entry) -> ctypes.CDLL:
    """Load a shared library with ctypes. It stays loaded; the entry may be closed."""
    return ctypes.CDLL(entry.path)
