"""Write what jitcache keeps on disk, by docs/format.md and nothing else.

The other half of reader.py: values to components, components to packed and
sealed keys, and whole entry files. Golden files are made with it, and files
that are wrong in one chosen way.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from format.reader import Component, Input, digest, key_of, xxh64, xxh128

__all__ = ["Content", "Program", "component", "components_of", "entry_file", "footer", "pack", "record", "seal"]


@dataclass(frozen=True)
class Content:
    """Stands for a file of that content."""

    content: bytes


@dataclass(frozen=True)
class Program:
    """Stands for a program or library of that content; build_id is what the content says."""

    content: bytes
    build_id: bytes = b""


# ------------------------------------------------------------------------ keys


def encode(value: Any) -> tuple[bytes, bytes]:
    """Return tag and bytes of a value."""
    if value is None:
        return b"n", b""
    if isinstance(value, bool):
        return b"t", bytes([value])
    if isinstance(value, int):
        return b"i", value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if isinstance(value, float):
        return b"f", bytes.fromhex("000000000000f87f") if math.isnan(value) else struct.pack("<d", value)
    if isinstance(value, str):
        return b"b", value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return b"b", value
    if isinstance(value, (list, tuple)):
        return b"l", struct.pack("<Q", len(value)) + b"".join(map(nested, value))
    if isinstance(value, Mapping):
        items = sorted((encode(key)[1], nested(item)) for key, item in value.items())
        body = b"".join(struct.pack("<Q", len(key)) + key + item for key, item in items)
        return b"d", struct.pack("<Q", len(items)) + body
    if isinstance(value, (set, frozenset)):
        return b"s", struct.pack("<Q", len(value)) + b"".join(sorted(map(nested, value)))
    if isinstance(value, Content):
        return b"F", digest(value.content)
    if isinstance(value, Program):
        return b"T", b"build-id:" + value.build_id if value.build_id else b"content:" + digest(value.content)
    raise TypeError(f"a {type(value).__name__} has no place in a key")


def nested(value: Any) -> bytes:
    """Return a value as it stands in another."""
    tag, data = encode(value)
    return tag + struct.pack("<Q", len(data)) + data


def component(label: str, value: Any) -> Component:
    """Make a component of a label and a value."""
    return Component(label.encode(), *encode(value))


def components_of(values: Mapping[str, Any]) -> list[Component]:
    """Make components of labelled values, in the order they are given in."""
    return [component(label, value) for label, value in values.items()]


def pack(components: Iterable[Component]) -> bytes:
    """Pack components, in the order they are given in."""
    return b"".join(c.tag + struct.pack("<HQ", len(c.label), len(c.value)) + c.label + c.value for c in components)


def ordered(components: Iterable[Component]) -> list[Component]:
    """Return components in the order of their labels."""
    return sorted(components, key=lambda c: c.label)


def seal(
    components: Iterable[Component],
    *,
    name: str = "",
    kind: str = "generic",
    inputs: Iterable[Input] = (),
    key: bytes = b"",
) -> bytes:
    """Return the sealed key of components; key is given where there are none."""
    components, inputs, named = ordered(components), list(inputs), name.encode("utf-8", "surrogateescape")
    parts = [b"jckey\0\0\2", key or key_of(components), kind.encode().ljust(16, b"\0")]
    parts += [struct.pack("<H", len(named)), named, struct.pack("<I", len(components))]
    parts += [c.short + struct.pack("<H", len(c.label)) + c.label for c in components]
    parts.append(struct.pack("<I", len(inputs)))
    for i in inputs:
        parts.append(i.tag + struct.pack("<QQQqqqQ", i.device, i.inode, i.size, i.mtime, i.ctime, i.opened, i.mount))
        parts.append(i.digest + struct.pack("<H", len(i.path)) + i.path)
    return b"".join(parts)


# --------------------------------------------------------------------- entries


def record(tag: int, data: bytes) -> bytes:
    """Return one record of the attributes."""
    return struct.pack("<BI", tag, len(data)) + data + b"\0"


def footer(
    key: bytes,
    payload: bytes,
    attributes: bytes,
    /,
    *,
    kind: str = "generic",
    created: int = 0,
    cost: int = 0,
    **wrong: Any,
) -> bytes:
    """Return a footer; wrong replaces fields by name, under a checksum that is right."""
    fields = {
        "magic": b"jitcache",
        "version": 1,
        "attributes_size": len(attributes),
        "payload_size": len(payload),
        "payload_hash": xxh128(payload),
        "attributes_hash": xxh64(attributes),
        "key": key,
        "kind": kind.encode(),
        "created": created,
        "cost": cost,
        "reserved": b"",
    }
    unknown = set(wrong) - set(fields)
    if unknown:
        raise TypeError(f"a footer has no {unknown}")
    data = struct.pack("<8sIIQ16sQ32s16sqq8s", *{**fields, **wrong}.values())
    return data + struct.pack("<Q", xxh64(data))


def entry_file(
    payload: bytes,
    *,
    components: Iterable[Component] = (),
    key: bytes = b"",
    name: str = "",
    attributes: bytes = b"",
    kind: str = "generic",
    created: int = 0,
    cost: int = 0,
) -> bytes:
    """Return an entry file; key is given where there are no components."""
    components = ordered(components)
    records = [record(1, name.encode("utf-8", "surrogateescape"))] if name else []
    records += [record(2, c.short + c.label) for c in components]
    records += [record(3, attributes)] if attributes else []
    block = b"\0" + b"".join(records)
    end = footer(key or key_of(components), payload, block, kind=kind, created=created, cost=cost)
    return payload + block + end
