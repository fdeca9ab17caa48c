"""CuPy's own functions: whether a program has replaced those for which the adapter has its own.

A program may replace functions of CuPy, for example to set other options. The adapter does what CuPy's own functions
do, and would bypass the replacements.
"""

from __future__ import annotations

from typing import Any

from cupy.cuda import compiler
from cupy_backends.cuda.libs import nvrtc


def replaced(program: Any) -> str:
    """Return the part of CuPy's class for NVRTC's programs, or of what it calls, that was replaced; "" for none."""
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
    """Whether a value is a function or a class of a compiled module."""
    return isinstance(value, type) or type(value) is type(nvrtc.getVersion) is not type(replaced)
