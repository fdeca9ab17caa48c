"""Outside: what code needs from the process that it runs in, beside the code of others that is linked into it.

An extension may have code call a function of a name that it gives LLVM while it
compiles, and may put an address of this process into code: of an object, of what
ctypes has. Nobody gives the name to a process that only loads the code, and the
address is another one there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llvmlite.binding as ll
import numpy as np

from ._addresses import undefined_in
from ._code import Unkeyable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

_LOWEST = 1 << 32  # smaller numbers are in all code


def _is_there(name: str, engine: Any) -> bool:
    return ll.address_of_symbol(name) is not None or bool(engine.is_symbol_defined(name))


def needed_by(code: bytes, engine: Any) -> list[str]:
    """Return the symbols that LLVM finds for object code here."""
    return [name for name in undefined_in(code) if _is_there(name, engine)]


def require(names: Iterable[str], engine: Any) -> None:
    """Raise ValueError if LLVM would not find a symbol, and end the process."""
    for name in names:
        if not _is_there(name, engine):
            raise ValueError(f"nothing is called {name}")


def _mapped() -> Any:
    """Return where this process's memory begins and ends, in rising order."""
    bounds = []
    with open("/proc/self/maps") as file:
        for line in file:
            start, _, end = line.partition(" ")[0].partition("-")
            if int(start, 16) >= _LOWEST:
                bounds += [int(start, 16), int(end, 16)]
    return np.array(bounds, np.uint64)


def refuse_addresses(code: bytes, known: Container[int]) -> None:
    """Raise Unkeyable if object code, as it is before it is linked, has an address of this process in it."""
    padded = code + bytes(15 - len(code) % 8)
    numbers = [np.frombuffer(padded, "<u8", len(code) // 8, at) for at in range(8)]
    large = np.unique(np.concatenate([n[(n >= _LOWEST) & (n < 1 << 48)] for n in numbers]))
    if not large.size:
        return
    inside = np.searchsorted(_mapped(), large, side="right") % 2 == 1
    if any(int(number) not in known for number in large[inside]):
        raise Unkeyable("address", "of something in this process, in code")
