"""Rows of the table of classes: each makes a world, and returns what changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from world import VALUE, World

Case = Callable[[World, Any], Callable[[], None]]
CASES: dict[str, Case] = {}


def case(f: Case) -> Case:
    """Take a function that makes a world, and returns what changes it."""
    CASES[f.__name__.replace("_", " ")] = f
    return f


def source(w: World, text: str = VALUE) -> None:
    """The text, in the compiler's language."""
    cxx = w.compiler.endswith("++")
    name = "f.cpp" if cxx else "f.c"
    w.asked["sources"] = {name: text.replace("int value(void);", 'extern "C" int value(void);') if cxx else text}


def exported(*names: str) -> str:
    """Functions, with their names for the linker."""
    return "".join(
        f'#ifdef __cplusplus\nextern "C"\n#endif\nint {n}(void) {{ return {i}; }}\n' for i, n in enumerate(names)
    )


def void(_: object) -> None:
    """Drop a value."""
