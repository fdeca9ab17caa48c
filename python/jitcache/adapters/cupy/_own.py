"""Whether what the adapter stands in for is CuPy's own.

A program may put functions of its own in the place of CuPy's, to have other options say. Ours does what CuPy's do,
and would leave theirs out.
"""

from __future__ import annotations

from typing import Any

from cupy.cuda import compiler
from cupy_backends.cuda.libs import nvrtc


def replaced(program: Any) -> str:
    """Return what of CuPy's class for a program of NVRTC's, or of what it calls, is somebody's; "" if nothing is."""
    if not isinstance(program, type):
        return "_NVRTCProgram"
    called: set[str] = set()
    name: str
    value: Any
    for room in program.__mro__[:-1]:
        for name, value in vars(room).items():
            if callable(value):
                if getattr(value, "__globals__", None) is not vars(compiler):
                    return name
                called.update(value.__code__.co_names)
    for name in sorted(called & vars(nvrtc).keys()):
        value = getattr(nvrtc, name)
        if not _is_compiled(value) or value.__module__ != nvrtc.__name__:
            return name
    return ""


def _is_compiled(value: Any) -> bool:
    """Whether a function, or a class, is one of a compiled module."""
    return isinstance(value, type) or type(value) is type(nvrtc.getVersion) is not type(replaced)
