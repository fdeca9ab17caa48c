"""LLVM's options: whether a program has set one. LLVM itself cannot be asked.

An option may change code, print, or read a file, in all later compiles of this process.
Once one is set, no result is stored, and no stored result is used.
Importing this module imports neither Numba nor llvmlite.
"""

from __future__ import annotations

import sys
from typing import Any

from jitcache._fork import ForkLock

#: The options that were set, or a remark that they cannot be seen. The one that Numba sets itself is not included: it
#: is one of Numba's settings.
given: list[str] = []

_lock = ForkLock()
_noting = False


class _Library:
    """Wraps LLVM's functions for llvmlite's module of options."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def LLVMPY_SetCommandLine(self, name: Any, option: Any) -> Any:  # noqa: N802 - llvmlite's name
        """Note an option, and set it."""
        caller = sys._getframe(2).f_globals.get("__name__")  # the module that called llvmlite's function
        if caller != "numba":
            given.append(str(option))
        return self._library.LLVMPY_SetCommandLine(name, option)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)


class _Module:
    """Replaces the module that has LLVM's functions."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.lib = _Library(module.lib)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def note(options: Any) -> None:
    """Note from now on which options are set through llvmlite, also by callers that have its function already.

    If llvmlite has another form, options cannot be seen. Then no result is kept.
    """
    global _noting
    with _lock():
        if _noting:
            return
        _noting = True
        if hasattr(getattr(getattr(options, "ffi", None), "lib", None), "LLVMPY_SetCommandLine"):
            options.ffi = _Module(options.ffi)
        else:
            given.append("one may be set: this version of llvmlite does not show it")
