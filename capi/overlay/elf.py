"""As much of ELF64 as reading a shared library back needs."""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

PT_LOAD, PT_NOTE, PT_TLS, PT_GNU_STACK = 1, 4, 7, 0x6474E551
DT_NEEDED, DT_SONAME, DT_TEXTREL, DT_FLAGS_1 = 1, 14, 22, 0x6FFFFFFB
DF_1_NODELETE = 0x8
SHT_RELA, SHT_DYNSYM, SHT_DYNAMIC, SHT_VERNEED = 4, 11, 6, 0x6FFFFFFE
R_RELATIVE = {62: 8, 183: 1027}  # by machine: x86_64, aarch64


class Symbol(NamedTuple):
    """A name of the dynamic symbol table."""

    name: str
    defined: bool
    weak: bool
    visible: bool


class Library:
    """A shared library, read from its file."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        if self._data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not a little-endian ELF64 file")
        (self._machine,) = struct.unpack_from("<H", self._data, 18)
        phoff, shoff = struct.unpack_from("<QQ", self._data, 32)
        phsize, phnum, shsize, shnum = struct.unpack_from("<HHHH", self._data, 54)
        self._programs = [struct.unpack_from("<IIQQQQQQ", self._data, phoff + i * phsize) for i in range(phnum)]
        self._sections = [struct.unpack_from("<IIQQQQIIQQ", self._data, shoff + i * shsize) for i in range(shnum)]

    def _text(self, table: int, at: int) -> str:
        start = self._sections[table][4] + at
        return self._data[start : self._data.index(b"\0", start)].decode()

    def tls_size(self) -> int:
        """The bytes of thread-local storage that loading it takes."""
        return sum(p[6] for p in self._programs if p[0] == PT_TLS)

    def build_id(self) -> bytes:
        """The GNU build id, b"" if there is none."""
        for kind, _, start, _, _, size, _, _ in self._programs:
            at, end = start, start + size
            while kind == PT_NOTE and at + 12 <= end:
                name, length, note = struct.unpack_from("<III", self._data, at)
                value = at + 12 + (name + 3 & ~3)
                if note == 3 and self._data[at + 12 : at + 16] == b"GNU\0":
                    return self._data[value : value + length]
                at = value + (length + 3 & ~3)
        return b""

    def stack_executable(self) -> bool:
        """Whether it asks for a stack that can be executed."""
        return any(p[1] & 1 for p in self._programs if p[0] == PT_GNU_STACK)

    def dynamic(self) -> list[tuple[int, int | str]]:
        """The dynamic section: tag and value, names as text."""
        entries: list[tuple[int, int | str]] = []
        for s in self._sections:
            if s[1] != SHT_DYNAMIC:
                continue
            for at in range(s[4], s[4] + s[5], 16):
                tag, value = struct.unpack_from("<QQ", self._data, at)
                entries.append((tag, self._text(s[6], value) if tag in (DT_NEEDED, DT_SONAME) else value))
        return entries

    def symbols(self) -> list[Symbol]:
        """The dynamic symbols that have a name."""
        found = []
        for s in self._sections:
            if s[1] != SHT_DYNSYM:
                continue
            for at in range(s[4], s[4] + s[5], 24):
                name, info, other, section = struct.unpack_from("<IBBH", self._data, at)
                if name and section != 0xFFF1:  # not the names of versions
                    found.append(Symbol(self._text(s[6], name), section != 0, info >> 4 == 2, other & 3 == 0))
        return found

    def versions_needed(self) -> set[str]:
        """The symbol versions that other libraries have to supply."""
        names = set()
        for s in self._sections:
            if s[1] != SHT_VERNEED:
                continue
            at = s[4]
            while True:
                _, count, _, aux, following = struct.unpack_from("<HHIII", self._data, at)
                entry = at + aux
                for _ in range(count):
                    _, _, _, name, after = struct.unpack_from("<IHHII", self._data, entry)
                    names.add(self._text(s[6], name))
                    entry += after
                if not following:
                    break
                at += following
        return names

    @functools.cached_property
    def pointers(self) -> dict[int, int]:
        """The words that the loader fills with addresses inside the library: where, and what."""
        found = {}
        for s in self._sections:
            for at in range(s[4], s[4] + s[5], 24) if s[1] == SHT_RELA else ():
                where, info, addend = struct.unpack_from("<QQq", self._data, at)
                if info & 0xFFFFFFFF == R_RELATIVE[self._machine]:
                    found[where] = addend
        return found

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address, as the file has them; fewer where it has none."""
        for kind, _, offset, start, _, length, _, _ in self._programs:
            if kind == PT_LOAD and start <= address < start + length:
                at = offset + address - start
                return self._data[at : min(at + size, offset + length)]
        return b""

    def holds(self, text: bytes) -> bool:
        """Whether some bytes are anywhere in the file."""
        return text in self._data
