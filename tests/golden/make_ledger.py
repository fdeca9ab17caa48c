"""Writes ledger, days and ledger.json from docs/format.md, sharing no code with the package."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import xxhash

HERE = Path(__file__).resolve().parent
FOLDERS, KINDS, COUNTERS, SLOTS = 256, 16, 80, 400
SLOT = 32 + KINDS * (16 + 8 * COUNTERS)

#: Kind to counters by their number; the rest are zero.
LEDGER = {
    "cubin": {0: 100_000, 1: 5_000, 2: 40, 4: 40, 5: 90_000_000_000, 6: 2**40, 17: 41},
    "native": {1: 1, 12: 9, 79: 2**64 - 1},
    "a-kind-of-sixtee": {9: 3, 10: 2**33},
}
#: Two days, and one of all sixteen kinds after a day on which nothing was counted.
DAYS = {
    20_400: {"cubin": {1: 4, 2: 2, 17: 2}},
    20_401: {"cubin": {0: 7}, "native": {17: 1}},
    20_403: {f"kind-{n}" if n < KINDS - 1 else "other": {2: n + 1} for n in range(KINDS)},
}


def xxh64(data: bytes) -> bytes:
    return struct.pack("<Q", xxhash.xxh3_64_intdigest(data))


def kinds(table: dict[str, dict[int, int]]) -> bytes:
    return b"".join(
        struct.pack(f"<16s{COUNTERS}Q", name.encode(), *(counters.get(n, 0) for n in range(COUNTERS)))
        for name, counters in table.items()
    )


def ledger() -> bytes:
    head = struct.pack("<8sIIqqqI20x", b"jcledger", 1, 3, 1_700_000_000_000_000_000, 1_600_000_000_000_000_000, 0, 0)
    cells = b"".join(struct.pack("<QQ", 1000 * n, n) for n in range(FOLDERS))
    data = head + cells + kinds(LEDGER).ljust(KINDS * (16 + 8 * COUNTERS), b"\0")
    return data + xxh64(data)


def days() -> bytes:
    file = bytearray()
    for day, table in DAYS.items():
        used = struct.pack("<qQ", day, len(table)) + kinds(table)
        slot = b"jcdays\0\1" + xxh64(used) + used
        at = day % SLOTS * SLOT
        file.extend(bytes(max(0, at + len(slot) - len(file))))
        file[at : at + len(slot)] = slot
    return bytes(file)


if __name__ == "__main__":
    (HERE / "ledger").write_bytes(ledger())
    (HERE / "days").write_bytes(days())
    numbers = range(FOLDERS)
    said = {
        "entries": sum(numbers),
        "bytes": 1000 * sum(numbers),
        "zeroed": 1_600_000_000_000_000_000,
        "kinds": LEDGER,
        "days": DAYS,
    }
    (HERE / "ledger.json").write_text(json.dumps(said, indent=1) + "\n")
