"""ELF files that are cut short: a compiler that was killed and a full disk leave them, and to load one is a SIGBUS."""

from __future__ import annotations

import os
import struct

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian: the machines that PyTorch's wheels are for


def is_whole(path: str) -> bool:
    """Return whether a file is an ELF file that is as long as its headers say. Raises OSError."""
    with open(path, "rb") as f:
        head = f.read(64)
        size = os.fstat(f.fileno()).st_size
        if len(head) < 64 or not head.startswith(_MAGIC):
            return False
        programs, sections = struct.unpack_from("<QQ", head, 32)
        program_size, programs_count, section_size, sections_count = struct.unpack_from("<4H", head, 54)
        if sections + section_size * sections_count > size:
            return False
        f.seek(programs)
        table = f.read(program_size * programs_count)
    if len(table) < program_size * programs_count or (programs_count and program_size < 56):
        return False
    ends = (
        sum(struct.unpack_from("<QQQQ", table, at + 8)[i] for i in (0, 3))  # offset and size in the file
        for at in range(0, len(table), program_size or 1)
    )
    return all(end <= size for end in ends)
