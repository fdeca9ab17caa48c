"""Start-up: what the variable ``JITCACHE_NUMBA`` asks for, in a program without a line of ours.

``jitcache_startup.pth`` imports this in each Python process that has the variable. It
waits for the program's ``import numba``, or of the llvmlite below it, whose options
of LLVM count; a process without these imports nothing of ours.
Numba has an entry point for extensions, but that comes with the first compile,
which is too late: a function with a signature is being compiled then, and
``cache=True`` has looked for a place beside the sources.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from typing import Any, Callable

#: What the variable may say: functions that do not ask for a cache too, or only those that do.
_ASKED = {"everything": True, "cached": False}


def _install() -> None:
    asked = os.environ.get("JITCACHE_NUMBA", "")
    try:
        everything = _ASKED[asked]
    except KeyError:
        logging.getLogger("jitcache").warning("JITCACHE_NUMBA=%s: want %s", asked, " or ".join(_ASKED))
        return
    try:
        from jitcache.adapters import numba

        numba.install(everything=everything)
    except Exception as e:  # noqa: BLE001 - a cache never fails the program
        logging.getLogger("jitcache").warning("JITCACHE_NUMBA=%s: %s: %s", asked, type(e).__name__, e)


def _note_options(module: Any) -> None:
    from jitcache.adapters.numba import _llvm

    _llvm.note(module)


#: What follows a module when it is imported.
_AFTER: dict[str, Callable[[Any], None]] = {
    "llvmlite.binding.options": _note_options,
    "numba": lambda _: _install(),
}


class _After:
    """A finder that finds nothing itself, and has a module followed by ours."""

    @classmethod
    def find_spec(cls, name: str, _path: Any = None, _target: Any = None) -> Any:
        follows = _AFTER.pop(name, None)
        if follows is None:
            return None
        if not _AFTER and cls in sys.meta_path:
            sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            try:
                follows(module)
            except Exception as e:  # noqa: BLE001 - a cache never fails the program
                logging.getLogger("jitcache").warning("after %s: %s: %s", name, type(e).__name__, e)

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("JITCACHE_NUMBA"):
    sys.meta_path.insert(0, _After)
