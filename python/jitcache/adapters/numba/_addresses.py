"""Addresses: of jitted functions that compiled code uses as values, which are elsewhere in each process.

Numba gives code such an address in a global variable that has it in its name too,
so that those of one object are merged. What is loaded is made what a compile in
this process would have given: name and content of these variables are those of the
function that stands at the same place in the walk.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from ._code import Unkeyable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._walk import Walker

_PREFIX = "numba.dynamic.globals."
_NAME = re.compile(rb"numba\.dynamic\.globals\.([0-9a-f]+)")
# A variable in LLVM's text: its name, and the number that it holds.
_TEXT = re.compile(rb'^(@"?numba\.dynamic\.globals\.[0-9a-f]+"? = .*\binttoptr \(i64 )(\d+)( to )', re.MULTILINE)

_ELF = b"\x7fELF\x02\x01"  # of 64 bits, the lowest first
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ADDRESS = struct.Struct("<Q")
_SYMBOLS, _NO_BITS = 2, 8  # kinds of sections
_RESERVED = 0xFF00  # numbers from here on are no sections


def places_of(library: Any, walker: Walker) -> dict[int, int]:
    """Return the addresses in a library's code, and where in the walk the functions are.

    Raises Unkeyable if there is one of anything else.
    """
    places = {id(dispatcher): place for place, dispatcher in enumerate(walker.dispatchers)}
    found = {}
    for name in library._dynamic_globals:
        try:
            address = int(name[len(_PREFIX) :], 16)
            found[address] = places[address]
        except (ValueError, KeyError):
            raise Unkeyable("dynamic globals", "an address of what is no jitted function") from None
    return found


def moves_for(places: Mapping[int, int], walker: Walker) -> dict[int, int]:
    """Return what each address is here. Raises ValueError for one of another length, which its name has to keep."""
    moves = {address: id(walker.dispatchers[place]) for address, place in places.items()}
    for old, new in moves.items():
        if len(f"{old:x}") != len(f"{new:x}"):
            raise ValueError(f"address {old:x} is {new:x} here")
    return moves


def named(data: bytes, moves: Mapping[int, int]) -> bytes:
    """Return names, or a text with names, with the addresses that are meant here."""
    return _NAME.sub(lambda m: b"numba.dynamic.globals.%x" % moves[int(m[1], 16)], data)


def moved(code: bytes, moves: Mapping[int, int]) -> bytes:
    """Return object code with the addresses that are meant here.

    Raises ValueError or KeyError if it is not as expected.
    """
    if not code.startswith(_ELF):
        raise ValueError("no object code of ELF with 64 bits")
    out = bytearray(code)
    _, _, _, _, _, table, _, _, _, _, size, count, _ = _HEADER.unpack_from(code)
    sections = [_SECTION.unpack_from(code, table + n * size) for n in range(count)]
    for kind, offset, length, names in ((s[1], s[4], s[5], s[6]) for s in sections):
        if kind != _SYMBOLS:
            continue
        for at in range(offset, offset + length, _SYMBOL.size):
            name, _, _, section, value, _ = _SYMBOL.unpack_from(code, at)
            start = sections[names][4] + name
            found = _NAME.fullmatch(code[start : code.index(b"\0", start)])
            if found is None or section == 0:
                continue
            if section >= min(count, _RESERVED) or sections[section][1] == _NO_BITS:
                raise ValueError("an address that is in no section")
            old, place = int(found[1], 16), sections[section][4] + value
            if _ADDRESS.unpack_from(code, place) != (old,):
                raise ValueError("a variable that does not hold the address in its name")
            _ADDRESS.pack_into(out, place, moves[old])
    return named(bytes(out), moves)


def moved_text(text: str, moves: Mapping[int, int]) -> str:
    """Return LLVM's text of a module with the addresses that are meant here."""
    data = _TEXT.sub(lambda m: b"%b%d%b" % (m[1], moves[int(m[2])], m[3]), text.encode())
    return named(data, moves).decode()
