"""Outside: what code needs from the process that it runs in, beside the code of others that is linked into it.

An extension may have code call a function of a name that it gives LLVM while it
compiles, and may put an address of this process into code: of an object, of what
ctypes has. Nobody gives the name to a process that only loads the code, and the
address is another one there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import llvmlite.binding as ll
import numpy as np

from ._addresses import data_in, undefined_in
from ._code import Unkeyable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

_LOWEST = 1 << 32  # smaller numbers are in all code
_HIGHEST = 1 << 48  # of what a process can have
_INTEGER = re.compile(r"\bi\d+ (\d{10,39})\b")  # in LLVM's text


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


def _numbers_in(data: bytes, places: int = 8) -> Any:
    """Return the numbers among bytes that may be addresses, from so many of eight places on."""
    padded = data + bytes(15 - len(data) % 8)
    every = np.concatenate([np.frombuffer(padded, "<u8", len(data) // 8, at) for at in range(places)])
    return np.unique(every[(every >= _LOWEST) & (every < _HIGHEST)])


def _constants_in(bitcode: bytes) -> Any:
    """Return the numbers in LLVM's code that may be addresses, two of them in one of 128 bits."""
    found = {int(number) for number in _INTEGER.findall(str(ll.parse_bitcode(bitcode)))}
    parts = found | {number >> 64 for number in found} | {number & (1 << 64) - 1 for number in found}
    return np.array(sorted(n for n in parts if _LOWEST <= n < _HIGHEST), np.uint64)


def _are_addresses(numbers: Any, known: Container[int]) -> bool:
    """Whether there is something of this process, and nothing known, at one of some numbers."""
    if not numbers.size:
        return False
    inside = np.searchsorted(_mapped(), numbers, side="right") % 2 == 1
    return any(int(number) not in known for number in numbers[inside])


def refuse_addresses(code: bytes, bitcode: bytes, known: Container[int]) -> None:
    """Raise Unkeyable if object code, as it is before it is linked, has an address of this process in it.

    ``bitcode`` is what the code was made of. Among the bytes of instructions there are
    numbers by chance, and of two GB somewhere in the memory of a process some of them:
    those count that are data, or are constants in what the instructions were made of.
    """
    if not _are_addresses(_numbers_in(code), known):
        return
    data = (_numbers_in(part, 1) for part in data_in(code))
    if any(_are_addresses(numbers, known) for numbers in (*data, _constants_in(bitcode))):
        raise Unkeyable("address", "of something in this process, in code")
