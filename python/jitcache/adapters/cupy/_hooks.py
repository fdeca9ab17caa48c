"""CuPy's places that the adapter takes: where a kernel is looked up, and where NVRTC is called for it.

CuPy's own function runs all the same. It is told to keep nothing on disk, and what it
takes for a program of NVRTC's is ours: options, architecture and the rest are as CuPy
decides, and nothing of that is repeated here.
"""

from __future__ import annotations

import functools
import inspect
import os
import threading
from typing import TYPE_CHECKING, Any

import cupy
from cupy.cuda import compiler

from ._own import replaced
from ._program import LeftError, Program
from ._reasons import reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jitcache import Cache

#: What is called of CuPy's, and its parameters, as far as the adapter gives, reads or changes them.
_CALLED = {
    "_compile_with_cache_cuda": {"options", "backend", "cache_in_memory", "jitify"},
    "_NVRTCProgram": {"src", "name", "headers", "include_names", "name_expressions", "method"},
    "CompileException": {"msg", "source", "name", "options", "backend"},
    "_is_cudadevrt_needed": {"options"},
    "_get_nvrtc_version": set(),
}


class _Thread(threading.local):
    """What a thread is about: the cache that it looks a kernel up in, if it does."""

    cache: Cache | None = None


_thread = _Thread()

# CuPy's own, while ours are in their place.
_originals: dict[str, Any] = {}


def unfit() -> str:
    """Return what of this CuPy is not as the adapter knows it, "" if all is."""
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
    """Take the places."""
    if _originals:
        return
    ours: dict[str, Callable[..., Any]] = {
        "_compile_with_cache_cuda": functools.partial(_looking_up, cache),
        "_NVRTCProgram": _program,
        "_empty_file_preprocess_cache": _Spared,
    }
    for name, make in ours.items():
        _originals[name] = getattr(compiler, name)
        setattr(compiler, name, make(_originals[name]))


def detach() -> None:
    """Give them back."""
    for name, original in _originals.items():
        setattr(compiler, name, original)
    _originals.clear()


def _looking_up(cache: Callable[[], Cache], original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def _compile_with_cache_cuda(*args: Any, **more: Any) -> Any:
        given = signature.bind(*args, **more)
        given.apply_defaults()
        why = _refused(given.arguments)
        if not why:
            given.arguments["cache_in_memory"] = True
            _thread.cache = cache()
            try:
                return original(*given.args, **given.kwargs)
            except LeftError as e:
                why = str(e)
            finally:
                _thread.cache = None
        reasons[why] += 1
        return original(*args, **more)

    return _compile_with_cache_cuda


def _refused(given: Mapping[str, Any]) -> str:
    """Return why a kernel is left to CuPy, "" if it is not."""
    if given["backend"] != "nvrtc":
        return str(given["backend"])
    if given["jitify"] or "-DCUPY_USE_JITIFY" in given["options"]:
        return "jitify"
    if given["cache_in_memory"]:
        return "CUPY_CACHE_IN_MEMORY"
    return "CUPY_CACHE_SAVE_CUDA_SOURCE" if os.environ.get("CUPY_CACHE_SAVE_CUDA_SOURCE") else ""


def _program(original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original, updated=())
    def _nvrtc_program(*args: Any, **more: Any) -> Any:
        if _thread.cache is None:
            return original(*args, **more)
        if replaced(original):
            raise LeftError("replaced")
        given = signature.bind(*args, **more)
        given.apply_defaults()
        return Program(_thread.cache, **given.arguments)

    return _nvrtc_program


class _Spared(dict[Any, str]):
    """What NVRTC makes of an empty source, by which CuPy's own key tells compilers apart. Ours does without."""

    def get(self, env: Any, default: Any = None) -> Any:
        return super().get(env, default) if _thread.cache is None else ""
