"""Hooks: the functions of CuPy that the adapter replaces, which look up a kernel and call NVRTC for it.

CuPy's own function still runs. It is told to keep nothing on disk, and gets our class
instead of its class for NVRTC's programs. So CuPy itself chooses options, architecture
and the rest, and none of that is repeated here.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from typing import TYPE_CHECKING, Any

import cupy
from cupy.cuda import compiler

from . import _cache
from ._own import replaced
from ._program import LeftError, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jitcache import Cache

#: The functions of CuPy that are called here, and those of their parameters that the adapter passes, reads or changes.
_CALLED = {
    "_compile_with_cache_cuda": {"options", "backend", "cache_in_memory", "jitify"},
    "_NVRTCProgram": {"src", "name", "headers", "include_names", "name_expressions", "method"},
    "CompileException": {"msg", "source", "name", "options", "backend"},
    "_is_cudadevrt_needed": {"options"},
    "_get_nvrtc_version": set(),
}


class _Thread(threading.local):
    """What a thread is doing: the cache in which it is looking a kernel up, or None."""

    cache: Cache | None = None


_thread = _Thread()

# CuPy's own functions, while ours replace them, and ours.
_originals: dict[str, Any] = {}
_ours: dict[str, Any] = {}


def unfit() -> str:
    """Return the part of this CuPy that is not as the adapter expects, "" if there is none."""
    if _originals:
        return ""
    if compiler.runtime.is_hip:
        return f"cupy {cupy.__version__}: HIP"
    for name, wanted in _CALLED.items():
        function = getattr(compiler, name, None)
        if function is None or not wanted <= set(inspect.signature(function).parameters):
            return f"cupy {cupy.__version__}: {name}"
    if not isinstance(getattr(compiler, "_empty_file_preprocess_cache", None), dict):
        return f"cupy {cupy.__version__}: _empty_file_preprocess_cache"
    return ""


def attach(cache: Callable[[], Cache]) -> None:
    """Replace CuPy's functions."""
    if _originals:
        return
    ours: dict[str, Callable[..., Any]] = {
        "_compile_with_cache_cuda": functools.partial(_looking_up, cache),
        "_NVRTCProgram": _program,
        "_empty_file_preprocess_cache": _Spared,
    }
    for name, make in ours.items():
        _originals[name] = getattr(compiler, name)
        _ours[name] = make(_originals[name])
        setattr(compiler, name, _ours[name])


def detach() -> None:
    """Put CuPy's functions back."""
    for name, original in _originals.items():
        setattr(compiler, name, original)
    _originals.clear()


def _looking_up(cache: Callable[[], Cache], original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def _compile_with_cache_cuda(*args: Any, **more: Any) -> Any:
        given = signature.bind(*args, **more)
        given.apply_defaults()
        why = _refused(given.arguments) or ("replaced" if compiler._NVRTCProgram is not _ours["_NVRTCProgram"] else "")
        if not why:
            given.arguments["cache_in_memory"] = True
            _thread.cache = cache()
            try:
                return original(*given.args, **given.kwargs)
            except LeftError as e:
                why = str(e)
            finally:
                _thread.cache = None
        _cache.reasons[why] += 1
        return original(*args, **more)

    return _compile_with_cache_cuda


def _refused(given: Mapping[str, Any]) -> str:
    """Return why a kernel is left to CuPy, "" if it is served here."""
    if given["backend"] != "nvrtc":
        return str(given["backend"])
    if given["jitify"] or "-DCUPY_USE_JITIFY" in given["options"]:
        return "jitify"
    if given["cache_in_memory"]:
        return "CUPY_CACHE_IN_MEMORY"
    return "CUPY_CACHE_SAVE_CUDA_SOURCE" if os.environ.get("CUPY_CACHE_SAVE_CUDA_SOURCE") else ""


def _program(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return what takes the place of CuPy's class for NVRTC's programs: a class, if that is one.

    What a program changes in it afterwards is changed in CuPy's, which compiles for the program's subclasses too.
    """
    signature = inspect.signature(original)

    def make(*args: Any, **more: Any) -> Any:
        if _thread.cache is None:
            return original(*args, **more)
        if replaced(original):
            raise LeftError("replaced")
        given = signature.bind(*args, **more)
        given.apply_defaults()
        return Program(_thread.cache, **given.arguments)

    if not isinstance(original, type):
        return functools.wraps(original)(make)
    theirs: type = original

    class Kind(type(original)):  # type: ignore[misc]  # a class is made by what has made CuPy's
        def __call__(cls, *args: Any, **more: Any) -> Any:
            return make(*args, **more) if cls is ours else super().__call__(*args, **more)

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, theirs) if cls is ours else super().__instancecheck__(value)

        def __setattr__(cls, name: str, value: Any) -> None:
            setattr(theirs, name, value) if cls is ours else super().__setattr__(name, value)

        def __delattr__(cls, name: str) -> None:
            delattr(theirs, name) if cls is ours else super().__delattr__(name)

    about = {"__module__": original.__module__, "__qualname__": original.__qualname__, "__doc__": original.__doc__}
    ours = Kind(original.__name__, (original,), about)
    return ours


class _Spared(dict[Any, str]):
    """NVRTC's output for an empty source: CuPy's own key tells compilers apart by it, and ours does not need it."""

    def get(self, env: Any, default: Any = None) -> Any:
        return super().get(env, default) if _thread.cache is None else ""
