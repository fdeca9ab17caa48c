"""LLVM's options: whether a program has set one, which nobody can ask LLVM for.

An option may change code, print, or read a file, for all that is compiled after it
in this process. What is compiled then is not kept, and none of what is kept is used.
Importing this module imports neither Numba nor llvmlite.
"""

from __future__ import annotations

import sys
from typing import Any

from jitcache._fork import ForkLock

#: The options that were set by others than Numba, whose own is one of its settings; or that none of them can be seen.
given: list[str] = []

_lock = ForkLock()
_noting = False


class _Library:
    """Stands before LLVM's functions where llvmlite sets options."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def LLVMPY_SetCommandLine(self, name: Any, option: Any) -> Any:  # noqa: N802 - llvmlite's name
        """Note an option, and set it."""
        caller = sys._getframe(2).f_globals.get("__name__")  # of llvmlite's function
        if caller != "numba":
            given.append(str(option))
        return self._library.LLVMPY_SetCommandLine(name, option)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)


class _Module:
    """Stands in the place of the module that has LLVM's functions."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.lib = _Library(module.lib)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def note(options: Any) -> None:
    """Note from now on what is set by llvmlite's module of options, whoever has its function already.

    In an llvmlite of another form it cannot be seen what is set: then nothing is kept.
    """
    global _noting
    with _lock():
        if _noting:
            return
        _noting = True
        if hasattr(getattr(getattr(options, "ffi", None), "lib", None), "LLVMPY_SetCommandLine"):
            options.ffi = _Module(options.ffi)
        else:
            given.append("whichever is set, which this llvmlite does not let be seen")
