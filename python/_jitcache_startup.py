"""Start-up: what ``JITCACHE_NUMBA`` and ``JITCACHE_TORCH`` ask for, in a program without a line of ours.

``jitcache_startup.pth`` imports this in each Python process that has such a variable. It
waits for the program's ``import numba``, or of the llvmlite below it, whose options
of LLVM count, and for PyTorch's import of Inductor; a process without these imports
nothing of ours.
Numba has an entry point for extensions, but that comes with the first compile,
which is too late: a function with a signature is being compiled then, and
``cache=True`` has looked for a place beside the sources.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import threading
from typing import Any, Callable

#: What the variable may say: functions that do not ask for a cache too, or only those that do; or the first, to compare
#: each hit with a compile.
_ASKED = {"everything": {"everything": True}, "cached": {}, "verify": {"everything": True, "verify": True}}


def _install() -> None:
    asked = os.environ.get("JITCACHE_NUMBA", "")
    try:
        options = _ASKED[asked]
    except KeyError:
        logging.getLogger("jitcache").warning("JITCACHE_NUMBA=%s: want everything, cached or verify", asked)
        return
    try:
        from jitcache.adapters import numba

        numba.install(**options)
    except Exception as e:  # noqa: BLE001 - a cache never fails the program
        logging.getLogger("jitcache").warning("JITCACHE_NUMBA=%s: %s: %s", asked, type(e).__name__, e)


def _install_torch(_module: Any) -> None:
    from jitcache.adapters import torch

    torch._attach()


def _serve_triton() -> None:
    """Let Triton use a jitcache too, in this process and in those in which PyTorch compiles kernels."""
    os.environ.setdefault("TRITON_CACHE_MANAGER", "jitcache.adapters.triton:Manager")


def _note_options(module: Any) -> None:
    from jitcache.adapters.numba import _llvm

    _llvm.note(module)


#: What follows a module when it is imported, once. A module that is only looked for is not imported.
_AFTER: dict[str, Callable[[Any], None]] = {}
if os.environ.get("JITCACHE_NUMBA"):
    _AFTER["llvmlite.binding.options"] = _note_options
    _AFTER["numba"] = lambda _: _install()
if os.environ.get("JITCACHE_TORCH") == "1":
    _serve_triton()
    _AFTER["torch._inductor.codecache"] = _install_torch
    _AFTER["torch._functorch._aot_autograd.autograd_cache"] = _install_torch
elif os.environ.get("JITCACHE_TORCH"):
    logging.getLogger("jitcache").warning("JITCACHE_TORCH=%s: want 1", os.environ["JITCACHE_TORCH"])


class _Looking(threading.local):
    """What this thread has the other finders look for."""

    def __init__(self) -> None:
        self.names: set[str] = set()


_looking = _Looking()


def _followed(execute: Callable[[Any], None]) -> Callable[[Any], None]:
    def exec_module(module: Any) -> None:
        execute(module)
        name = module.__name__  # a loader may be that of other modules too
        follows = _AFTER.pop(name, None)
        if follows is not None:
            try:
                follows(module)
            except Exception as e:  # noqa: BLE001 - a cache never fails the program
                logging.getLogger("jitcache").warning("after %s: %s: %s", name, type(e).__name__, e)

    return exec_module


class _After:
    """A finder that finds nothing itself, and has a module followed by ours.

    It stays among the finders: whoever goes through them when one is taken out misses the one behind it.
    """

    @staticmethod
    def find_spec(name: str, _path: Any = None, _target: Any = None) -> Any:
        if name not in _AFTER or name in _looking.names:
            return None
        _looking.names.add(name)
        try:
            spec: Any = importlib.util.find_spec(name)
        finally:
            _looking.names.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _followed(spec.loader.exec_module)
        return spec


if _AFTER:
    sys.meta_path.insert(0, _After)
