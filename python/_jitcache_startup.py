"""Start-up: what the variable ``JITCACHE_NUMBA`` asks for, in a program without a line of ours.

``jitcache_startup.pth`` imports this in each Python process that has the variable. It
waits for the program's ``import numba``; a process without one imports neither.
Numba has an entry point for extensions, but that comes with the first compile,
which is too late: a function with a signature is being compiled then, and
``cache=True`` has looked for a place beside the sources.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from typing import Any

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


class _AfterNumba:
    """A finder that finds nothing itself, and has the module ``numba`` followed by ours."""

    @classmethod
    def find_spec(cls, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name != "numba" or cls not in sys.meta_path:
            return None
        sys.meta_path.remove(cls)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _install()

        spec.loader.exec_module = exec_module
        return spec


if os.environ.get("JITCACHE_NUMBA"):
    sys.meta_path.insert(0, _AfterNumba)
