"""Addresses in compiled code that differ in each process.

They are those of jitted functions that are used as values, and of Numba's C functions.
Numba puts such an address into a global variable of the code, and also into the variable's
name, so that the variables of one object are merged. When code is loaded, these variables
get the names and contents that a compile in this process would have given them: the
address of the function at the same place in the walk, or of the C function of the same name.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import struct
import sys
from typing import TYPE_CHECKING, Any, Union

from ._code import Unkeyable, versioned_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._walk import Walker

    #: What is at an address: a jitted function, by its place in the walk, or a C function, by module and name.
    Place = Union[int, tuple[str, str]]

_PREFIX = "numba.dynamic.globals."
_NAME = re.compile(rb"numba\.dynamic\.globals\.([0-9a-f]+)")
# The whole name of one. A module may have several of one address, which llvmlite numbers.
_SYMBOL_NAME = re.compile(rb"numba\.dynamic\.globals\.([0-9a-f]+)(?:\.\d+)?")
# A variable in LLVM assembly: its name, and the number that it holds.
_TEXT = re.compile(
    rb'^(@"?numba\.dynamic\.globals\.[0-9a-f]+(?:\.\d+)?"? = .*\binttoptr \(i64 )(\d+)( to )', re.MULTILINE
)

_ELF = b"\x7fELF\x02\x01"  # 64-bit, little-endian
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ADDRESS = struct.Struct("<Q")
_CONTENT, _SYMBOLS, _NO_BITS = 1, 2, 8  # types of sections: SHT_PROGBITS, SHT_SYMTAB, SHT_NOBITS
_LOADED, _RUN = 2, 4  # flags of sections: SHF_ALLOC, SHF_EXECINSTR
_RESERVED = 0xFF00  # SHN_LORESERVE: section numbers from here on have special meanings


def _address(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _c_functions() -> dict[int, tuple[str, str]]:
    """Return module and name of each C function in Numba's modules, those of its threads, say, by address."""
    kind: Any = ctypes._CFuncPtr  # type: ignore[attr-defined]
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("numba.") and versioned_module(m)]
    return {
        _address(value): (module.__name__, name)
        for module in modules
        for name, value in list(vars(module).items())
        if isinstance(value, kind)
    }


def places_of(library: Any, walker: Walker) -> dict[int, Place]:
    """Return what is at each address in a library's code.

    Raises Unkeyable for an address of anything but a jitted function in the walk or a
    named C function of Numba's.
    """
    if not library._dynamic_globals:
        return {}
    places: dict[int, Place] = {**_c_functions(), **{id(d): place for place, d in enumerate(walker.dispatchers)}}
    found = {}
    for name in library._dynamic_globals:
        try:
            address = int(name[len(_PREFIX) :].partition(".")[0], 16)
            found[address] = places[address]
        except (ValueError, KeyError):
            raise Unkeyable("dynamic globals", "an address of something that is not a jitted function") from None
    return found


def moves_for(places: Mapping[int, Place], walker: Walker) -> dict[int, int]:
    """Return, for each address in an entry, the address in this process.

    Raises ValueError if an address has another number of digits here: names of variables
    must keep their length.
    """
    moves = {}
    for old, place in places.items():
        if isinstance(place, int):
            new = id(walker.dispatchers[place])
        else:
            new = _address(getattr(importlib.import_module(place[0]), place[1]))
        if len(f"{old:x}") != len(f"{new:x}"):
            raise ValueError(f"address {old:x} is {new:x} here")
        moves[old] = new
    return moves


def without_addresses(text: str) -> str:
    """Return the LLVM assembly of a module without what such variables hold: each has it in its name, too."""
    return _TEXT.sub(rb"\1\3", text.encode()).decode() if _PREFIX in text else text


def named(data: bytes, moves: Mapping[int, int]) -> bytes:
    """Return bytes that contain names of such variables, with this process's addresses in the names."""
    return _NAME.sub(lambda m: b"numba.dynamic.globals.%x" % moves[int(m[1], 16)], data)


def _sections_of(code: bytes) -> list[tuple[int, ...]]:
    if not code.startswith(_ELF):
        raise ValueError("not object code in 64-bit little-endian ELF")
    _, _, _, _, _, table, _, _, _, _, size, count, _ = _HEADER.unpack_from(code)
    return [_SECTION.unpack_from(code, table + n * size) for n in range(count)]


def _symbols_of(code: bytes, sections: list[tuple[int, ...]]) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, section and value of each symbol of object code."""
    for kind, offset, length, names in ((s[1], s[4], s[5], s[6]) for s in sections):
        if kind != _SYMBOLS:
            continue
        for at in range(offset, offset + length, _SYMBOL.size):
            name, _, _, section, value, _ = _SYMBOL.unpack_from(code, at)
            start = sections[names][4] + name
            yield code[start : code.index(b"\0", start)], section, value


def undefined_in(code: bytes) -> list[str]:
    """Return the symbols that object code needs from outside. Raises ValueError for code of an unexpected form."""
    symbols = _symbols_of(code, _sections_of(code))
    return sorted({name.decode() for name, section, _ in symbols if section == 0 and name})


def data_in(code: bytes) -> list[bytes]:
    """Return the loaded sections of object code that are not instructions. Raises ValueError as above."""
    kept = ((s[4], s[5]) for s in _sections_of(code) if s[1] == _CONTENT and s[2] & _LOADED and not s[2] & _RUN)
    return [code[offset : offset + length] for offset, length in kept]


def moved(code: bytes, moves: Mapping[int, int]) -> bytes:
    """Return object code with the addresses of this process.

    Raises ValueError or KeyError for code of an unexpected form.
    """
    sections = _sections_of(code)
    out = bytearray(code)
    for name, section, value in _symbols_of(code, sections):
        found = _SYMBOL_NAME.fullmatch(name)
        if found is None or section == 0:
            continue
        if section >= min(len(sections), _RESERVED) or sections[section][1] == _NO_BITS:
            raise ValueError("a variable for an address is in no section")
        old, place = int(found[1], 16), sections[section][4] + value
        if _ADDRESS.unpack_from(code, place) != (old,):
            raise ValueError("a variable does not hold the address in its name")
        _ADDRESS.pack_into(out, place, moves[old])
    return named(bytes(out), moves)


def moved_text(text: str, moves: Mapping[int, int]) -> str:
    """Return the LLVM assembly of a module with the addresses of this process."""
    data = _TEXT.sub(lambda m: b"%b%d%b" % (m[1], moves[int(m[2])], m[3]), text.encode())
    return named(data, moves).decode()
