"""Write keys.json and keys.txt: keys as docs/format.md defines them.

    python tests/golden/make_keys.py [FOLDER]

The encoder is tests/format/writer.py, which was written from that page and
shares nothing with jitcache. keys.json has per vector the components, in an
order other than that of the labels where a vector says so:

    label    the label
    python   an expression of the value; Content(b) is a file of that content,
             Program(b) the same as a tool
    tag      the tag, a letter
    value    the encoded value in hex, or {"repeat": hex, "times": n}
    short    the first 8 bytes of the BLAKE3 of the value

and the key in hex. keys.txt has one line per vector, packed components in hex
("-" if there are none), a blank, the key; vectors of more than 8 KiB are left
out. Keys never change: a run of this script must leave both files as they are.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from format import writer
from format.reader import Component, key_of

HERE = Path(__file__).resolve().parent
MAX_PACKED_IN_TEXT = 8 << 10
MAX_VALUE_IN_HEX = 4 << 10


def elf(build_id: bytes) -> bytes:
    """Return the smallest ELF file with a GNU build id: header, one PT_NOTE, the note."""
    note = struct.pack("<III4s", 4, len(build_id), 3, b"GNU") + build_id
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 120, 120, len(note), len(note), 4) + note


ELF = elf(bytes(range(20)))

# One component "v" each; the name of the vector says what it is there for.
VALUES = {
    "text": "'int main(void) { return 0; }'",
    "text-empty": "''",
    "text-non-ascii": "'größe 大小 \U0001f600'",
    "text-not-normalised": "'e\\u0301 \\xe9'",
    "text-nul": "'a\\0b'",
    "text-surrogateescape": "'caf\\udce9 \\udcff'",
    "bytes": "b'\\x00\\x01\\xfe\\xff'",
    "bytes-empty": "b''",
    "bytes-of-text": "'größe'.encode()",
    "bytes-1024": "bytes(range(256)) * 4",
    "bytes-1025": "bytes(range(256)) * 4 + b'x'",
    "bytes-16384": "b'0123456789abcdef' * 1024",
    "bytes-16400": "b'0123456789abcdef' * 1025",
    "bytes-100-kb": "bytes(range(250)) * 400",
    "text-100-kb": "'größe ' * 12500",
    "none": "None",
    "true": "True",
    "false": "False",
    "int-0": "0",
    "int-1": "1",
    "int-minus-1": "-1",
    "int-127": "127",
    "int-128": "128",
    "int-minus-127": "-127",
    "int-minus-128": "-128",
    "int-minus-129": "-129",
    "int-255": "255",
    "int-256": "256",
    "int-minus-256": "-256",
    "int-2-31": "2**31",
    "int-2-63-minus-1": "2**63 - 1",
    "int-2-63": "2**63",
    "int-minus-2-63": "-2**63",
    "int-2-64": "2**64",
    "int-2-200": "2**200",
    "int-minus-2-200": "-2**200",
    "float-0": "0.0",
    "float-minus-0": "-0.0",
    "float-1": "1.0",
    "float-1.5": "1.5",
    "float-smallest": "5e-324",
    "float-inf": "float('inf')",
    "float-minus-inf": "float('-inf')",
    "float-nan": "float('nan')",
    "float-minus-nan": "-float('nan')",
    "list-empty": "[]",
    "list": "['-O3', '-g']",
    "list-joined": "['-O3-g']",
    "list-moved-boundary": "['-O3-', 'g']",
    "list-of-all": "[None, True, 1, 1.0, '1', b'\\xff', [], {}, set()]",
    "list-nested": "[[1, [2, [3, []]]], [[[]]]]",
    "list-of-nan": "[float('nan'), -float('nan')]",
    "tuple": "('-O3', '-g')",
    "tuple-empty": "()",
    "dict-empty": "{}",
    "dict-unsorted": "{'b': 1, 'a': 2, 'B': 3, 'ab': 4, '': 5}",
    "dict-by-bytes": "{'\U0001f600': 1, '\\uffff': 2, 'z': 3, '\\xe9': 4}",
    "dict-surrogateescape": "{'\\udcff': 1, '\\xff': 2, '\\udc80': 3}",
    "dict-nested": "{'outer': {'z': [1, {'y': None}], 'a': {}}, 'n': -1}",
    "set-empty": "set()",
    "set": "{'c', 'a', 'b'}",
    "set-by-encoding": "{2, 1, 256, -1, 'a', b'', None, True, 1.5}",
    "set-nested": "{frozenset({1, 2}), frozenset(), (1, 2), ('a',)}",
    "file": "Content(b'#define N 4\\n')",
    "file-empty": "Content(b'')",
    "file-100-kb": "Content(bytes(range(250)) * 400)",
    "tool-without-build-id": "Program(b'#!/bin/sh\\n')",
    "tool-with-build-id": f"Program(bytes.fromhex('{ELF.hex()}'))",
}

SETS: dict[str, dict[str, str]] = {
    "no-components": {},
    "two": {"a": "'x'", "b": "'y'"},
    "order-of-labels-1": {"source": "'s'", "arch": "'sm_90'", "options": "['-O3']"},
    "order-of-labels-2": {"options": "['-O3']", "source": "'s'", "arch": "'sm_90'"},
    "labels-by-bytes": {"b": "1", "a": "2", "B": "3", "ab": "4", "-D": "5", "a b": "6", "_": "7"},
    "labels-non-ascii": {"\U0001f600": "1", "\uffff": "2", "größe": "3", "z": "4"},
    "label-of-1024-bytes": {"x" * 1024: "1"},
    "label-moved-boundary-1": {"ab": "'c'"},
    "label-moved-boundary-2": {"a": "'bc'"},
    "hundred-components": {f"component {i * 37 % 100}": str(i) for i in range(100)},
    "three-hundred-components": {f"D{i * 89 % 300}": f"'{i}'" for i in range(300)},
    "typical": {
        "source": "'__global__ void saxpy(float a, float *x) { x[threadIdx.x] *= a; }'",
        "options": "['--std=c++17', '-lineinfo']",
        "arch": "'sm_90'",
        "compiler": f"Program(bytes.fromhex('{ELF.hex()}'))",
        "header": "Content(b'#pragma once\\n')",
        "abi": "{'soabi': 'cpython-311', 'pointer': 64}",
        "debug": "False",
    },
}


def program(content: bytes) -> writer.Program:
    """Return a program; only one content of this script has a build id."""
    return writer.Program(content, bytes(range(20)) if content == ELF else b"")


def value_of(expression: str) -> Any:
    """Return what an expression stands for."""
    return eval(expression, {"Content": writer.Content, "Program": program})


def hex_of(value: bytes) -> Any:
    """Return bytes in hex; long ones, which repeat themselves, by what is repeated."""
    if len(value) <= MAX_VALUE_IN_HEX:
        return value.hex()
    period = next(n for n in range(1, len(value)) if len(value) % n == 0 and value == value[:n] * (len(value) // n))
    return {"repeat": value[:period].hex(), "times": len(value) // period}


def vector(name: str, expressions: dict[str, str]) -> tuple[dict[str, Any], list[Component]]:
    """Return one vector, and its components."""
    components = writer.components_of({label: value_of(e) for label, e in expressions.items()})
    described = [
        {"label": label, "python": e, "tag": c.tag.decode(), "value": hex_of(c.value), "short": c.short.hex()}
        for (label, e), c in zip(expressions.items(), components)
    ]
    return {"name": name, "components": described, "key": key_of(components).hex()}, components


def main(folder: Path) -> None:
    """Write both files."""
    sets = {**SETS, **{name: {"v": expression} for name, expression in VALUES.items()}}
    made = [vector(name, sets[name]) for name in sorted(sets)]
    with open(folder / "keys.json", "w", encoding="ascii") as f:
        json.dump([v for v, _ in made], f, indent=1)
        f.write("\n")
    with open(folder / "keys.txt", "w", encoding="ascii") as f:
        for v, components in made:
            packed = writer.pack(components)
            if len(packed) <= MAX_PACKED_IN_TEXT:
                f.write(f"{packed.hex() or '-'} {v['key']}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
