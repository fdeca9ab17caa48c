"""Programs of cuda.core's, compiled through the cache."""

from __future__ import annotations

import dataclasses
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import cuda.bindings
from cuda.core import ProgramOptions

from jitcache import Cache, _library
from jitcache._default import cache_of
from jitcache._errors import Error
from jitcache.cuda import Wish, _environment, code_of

from ._errors import translated
from ._job import TARGETS, Job, object_code
from ._linked import link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitcache.cuda import Code


def _text_of(value: Any) -> str:
    """Return a member of one of cuda.core's enumerations, or its value, as text."""
    if isinstance(value, str):  # first: looking for a missing attribute takes longer
        return value.lower()
    return str(getattr(value, "value", value)).lower()


def _cache(cache: Any) -> Cache | None:
    """Return the cache that an argument ``cache`` means, None for no cache."""
    if cache is None or isinstance(cache, (Cache, bool)):
        return cache_of(cache)
    from . import ProgramCache

    return cache.cache if isinstance(cache, ProgramCache) else cache_of(cache)


def compile_any(  # noqa: PLR0917  as compile_program
    source: Any, code_type: Any, options: Any, target: Any, names: Sequence[str | bytes], logs: Any, cache: Any
) -> Any:
    """Return the ObjectCode, as ``compile_program`` says."""
    if isinstance(names, (str, bytes)):
        raise TypeError(f"name_expressions: want a sequence of str or bytes, not {type(names).__name__}")
    found = _cache(cache)
    if options is None or isinstance(options, dict):
        options = ProgramOptions(**(options or {}))
    job = Job(source, _text_of(code_type), options, _text_of(target), tuple(names), logs)
    if found is None or not isinstance(options, ProgramOptions) or _library.load() is None:
        return job.by_cuda_core()
    if job.code_type == "c++" and job.target in TARGETS and isinstance(source, str) and options.extra_sources is None:
        return _compile(job, found)
    if job.code_type in ("ptx", "nvvm"):
        return link(job, found)
    return job.by_cuda_core()  # raises cuda.core's error


def _compile(job: Job, cache: Cache) -> Any:
    options = job.options
    if options.include_path is not None or options.pre_include is not None:
        options = _with_text_paths(options)
    name = "default_program" if options.name is None else options.name
    flags: list[bytes] = options.as_bytes("nvrtc", job.target)
    wish: Any = (job.source, name, tuple(flags), job.target, job.name_expressions, (), _nvrtc())
    try:
        if getattr(options, "use_bundled_headers", None):  # from cuda.core 1.2 on
            from ._headers import with_bundled

            wish = with_bundled(Wish(*wish), flags, options, cache)
        code = code_of(wish, cache)
        if job.target == "ptx":
            _warn_of_old_driver(code)
        return _object_code(job, code)
    except Error as e:
        raise translated(e) from None


def _with_text_paths(options: Any) -> Any:
    """Return options whose paths are str: cuda.core leaves out an option that is a single ``Path``."""
    given = {name: getattr(options, name) for name in ("include_path", "pre_include")}
    paths = {name: os.fspath(value) for name, value in given.items() if isinstance(value, os.PathLike)}
    return dataclasses.replace(options, **paths) if paths else options


def _object_code(job: Job, code: Code) -> Any:
    if job.logs is not None and code.log:
        job.logs.write(code.log)
    symbols = {}
    if job.name_expressions:
        lowered = code.lowered_names
        symbols = {e: lowered[_text(e)].encode() for e in job.name_expressions}
    return object_code(job, code.code, symbols)


def _text(expression: str | bytes) -> str:
    return expression.decode("utf-8", "surrogateescape") if isinstance(expression, bytes) else expression


def _warn_of_old_driver(code: Code) -> None:
    """Warn, as cuda.core does, if the PTX is newer than the driver. Without a driver nothing will load it."""
    from cuda.bindings import driver

    try:
        _, version = driver.cuDriverGetVersion()
    except RuntimeError:  # no driver is installed
        return
    major, _, minor = code.nvrtc.partition(".")
    if major.isdigit() and minor.isdigit() and version < 1000 * int(major) + 10 * int(minor):
        text = "The CUDA driver is older than the NVRTC that made this PTX, and cannot load it."
        warnings.warn(text, RuntimeWarning, stacklevel=5)


# The path of NVRTC in its wheels, by the major version of cuda.bindings.
_WHEELS = {"12": "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "13": "nvidia/cu13/lib/libnvrtc.so.13"}

_NVRTC = os.fsencode("JITCACHE_NVRTC")

# The last search path, and what was found with it.
_found: tuple[list[str], str] | None = None


def _nvrtc() -> str:
    """Return the NVRTC that cuda.bindings loads: one of its version, loaded already or in a wheel; "" if unknown.

    For "" jitcache searches itself, and takes the newest of several.
    """
    global _found
    if _environment.get(_NVRTC):
        return ""
    found = _found
    if found is None or found[0] != sys.path:
        places = sys.path[:]
        major = cuda.bindings.__version__.partition(".")[0]
        below = _WHEELS.get(major)
        files = [os.path.join(p, below) for p in places if below and os.path.isabs(p)]
        found = _found = places, _loaded(major) or next(filter(os.path.exists, files), "")
    return found[1]


def _loaded(major: str) -> str:
    """Return the NVRTC of a version that the process has loaded already, which cuda.core then uses; "" for none."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as f:
            paths = [line[line.index("/") :].rstrip("\n") for line in f if f"/libnvrtc.so.{major}" in line]
    except OSError:
        return ""
    return next(filter(os.path.exists, paths), "")
