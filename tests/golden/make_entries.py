"""Write entries/*.jce and entries/index.json: entry files as docs/format.md defines them.

    python tests/golden/make_entries.py [FOLDER]

The writer is tests/format/writer.py. Every later version of jitcache must read
these files: a run of this script must leave them as they are, and a new format
gets new files beside them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from format import writer
from format.reader import FOOTER_SIZE, key_of

HERE = Path(__file__).resolve().parent
NOON = 1767268800_000000000  # 2026-01-01 12:00:00 UTC
ELF = b"\x7fELF\x02\x01\x01".ljust(64, b"\0") + bytes(range(256)) * 3
PTX = "// größe\n.version 8.3\n.target sm_90\n.visible .entry saxpy() { ret; }\n".encode()

ENTRIES: dict[str, dict[str, Any]] = {
    # A key that was given, not computed, and nothing beside it.
    "bare": {"payload": b"x", "key": bytes(range(32)), "created": NOON},
    "bare-empty": {"payload": b"", "key": b"\xff" * 32, "created": NOON + 1},
    "no-components": {"payload": b"\0", "created": NOON + 2, "cost": 1},
    "elf": {
        "payload": ELF,
        "kind": "cubin",
        "name": "saxpy",
        "created": NOON + 3,
        "cost": 1_234_567_890,
        "components": {"source": "__global__ void saxpy() {}", "options": ["-O3"], "arch": "sm_90", "debug": False},
        "attributes": '{"lowered": {"saxpy<float>": "_Z5saxpyIfEvv"}, "log": ""}',
    },
    "text": {
        "payload": PTX,
        "kind": "ptx",
        "name": "stokes residual, größe 大",
        "created": NOON + 4,
        "components": {"größe": 1, "z": None, "Z": 1.5},
        "attributes": '{"unicode": "gr\\u00f6\u00dfe", "nested": [1, {"a": null}]}',
    },
    "empty-with-everything": {
        "payload": b"",
        "kind": "sixteen-chars_.9",
        "name": "n" * 200,
        "created": NOON + 5,
        "cost": 2**62,
        "components": {f"c{i}": i for i in range(8)},
        "attributes": "{}",
    },
    "times": {"payload": b"before 1970", "components": {"v": 1}, "name": "times", "created": -1, "cost": 0},
    # Behind the records that version 1 knows are two that it does not.
    "unknown-records": {
        "payload": b"payload",
        "components": {"v": 2},
        "name": "unknown",
        "attributes": '{"a": 1}',
        "created": NOON + 6,
        "more": [(4, b""), (255, b"\0\0data of later versions\0")],
    },
}


def entry(spec: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Return an entry file, and what its readers should find."""
    spec = {"kind": "generic", "name": "", "attributes": "", "components": {}, "cost": 0, "more": [], **spec}
    payload, more = spec.pop("payload"), spec.pop("more")
    components = writer.ordered(writer.components_of(spec.pop("components")))
    attributes = spec.pop("attributes")
    data = writer.entry_file(payload, components=components, attributes=attributes.encode(), **spec)
    key = spec.get("key") or key_of(components)
    if more:
        block = data[len(payload) : -FOOTER_SIZE] + b"".join(writer.record(tag, text) for tag, text in more)
        footer = writer.footer(key, payload, block, kind=spec["kind"], created=spec["created"], cost=spec["cost"])
        data = payload + block + footer
    found = {
        "key": key.hex(),
        "payload": payload.hex(),
        "kind": spec["kind"],
        "name": spec["name"],
        "attributes": attributes,
        "components": {c.label.decode(): c.short.hex() for c in components},
        "created": spec["created"],
        "cost": spec["cost"],
    }
    return data, found


def main(folder: Path) -> None:
    """Write the files and their index."""
    (folder / "entries").mkdir(exist_ok=True)
    index = {}
    for name in sorted(ENTRIES):
        data, index[name] = entry(ENTRIES[name])
        (folder / "entries" / f"{name}.jce").write_bytes(data)
    with open(folder / "entries" / "index.json", "w", encoding="ascii") as f:
        json.dump(index, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
