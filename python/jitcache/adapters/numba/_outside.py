"""Outside: what compiled code needs from the process that runs it, apart from linked libraries.

While Numba compiles, an extension may register a function with LLVM by name and let the
code call it. It may also put an address of this process into the code: of an object, or of
something that ctypes has loaded. In a process that only loads the code, nobody registers
the name, and the address is a different one.
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

_LOWEST = 1 << 32  # smaller numbers occur in all code
_HIGHEST = 1 << 48  # all addresses of a process are below this
_INTEGER = re.compile(r"\bi\d+ (\d{10,39})\b")  # a constant in LLVM assembly


def _is_there(name: str, engine: Any) -> bool:
    return ll.address_of_symbol(name) is not None or bool(engine.is_symbol_defined(name))


def needed_by(code: bytes, engine: Any) -> list[str]:
    """Return the symbols that object code needs and that LLVM finds in this process."""
    return [name for name in undefined_in(code) if _is_there(name, engine)]


def require(names: Iterable[str], engine: Any) -> None:
    """Raise ValueError if a symbol is missing: LLVM would end the process."""
    for name in names:
        if not _is_there(name, engine):
            raise ValueError(f"no symbol {name} in this process")


def _mapped() -> Any:
    """Return where each mapping of this process's memory begins and ends, in ascending order."""
    bounds = []
    with open("/proc/self/maps") as file:
        for line in file:
            start, _, end = line.partition(" ")[0].partition("-")
            if int(start, 16) >= _LOWEST:
                bounds += [int(start, 16), int(end, 16)]
    return np.array(bounds, np.uint64)


def _numbers_in(data: bytes, places: int = 8) -> Any:
    """Return the 64-bit numbers in bytes that may be addresses; ``places``: how many of the 8 offsets to read at."""
    padded = data + bytes(15 - len(data) % 8)
    every = np.concatenate([np.frombuffer(padded, "<u8", len(data) // 8, at) for at in range(places)])
    return np.unique(every[(every >= _LOWEST) & (every < _HIGHEST)])


def _constants_in(bitcode: bytes) -> Any:
    """Return the constants in LLVM bitcode that may be addresses, or one of the halves of a 128-bit constant."""
    found = {int(number) for number in _INTEGER.findall(str(ll.parse_bitcode(bitcode)))}
    parts = found | {number >> 64 for number in found} | {number & (1 << 64) - 1 for number in found}
    return np.array(sorted(n for n in parts if _LOWEST <= n < _HIGHEST), np.uint64)


def _are_addresses(numbers: Any, known: Container[int]) -> bool:
    """Whether one of the numbers is an address in this process's memory that is not known."""
    if not numbers.size:
        return False
    inside = np.searchsorted(_mapped(), numbers, side="right") % 2 == 1
    return any(int(number) not in known for number in numbers[inside])


def refuse_addresses(code: bytes, bitcode: bytes, known: Container[int]) -> None:
    """Raise Unkeyable if object code that is not linked yet contains an address of this process.

    ``bitcode`` is what the code was made from. The bytes of instructions contain numbers
    by chance, and some of these fall into the memory of a process that has 2 GB of it. So
    a number counts only in a data section, or if it is a constant in the bitcode.
    """
    if not _are_addresses(_numbers_in(code), known):
        return
    data = (_numbers_in(part, 1) for part in data_in(code))
    if any(_are_addresses(numbers, known) for numbers in (*data, _constants_in(bitcode))):
        raise Unkeyable("address", "the code contains an address of this process")
