"""Encoding of components into their packed form: docs/format.md, "Components"."""

from __future__ import annotations

import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAN = b"\x00\x00\x00\x00\x00\x00\xf8\x7f"  # all NaNs count as this one
_header = struct.Struct("<BHQ").pack
_value_header = struct.Struct("<BQ").pack
_count = struct.Struct("<Q").pack
_double = struct.Struct("<d").pack


# The tag of bytes and text.
BYTES = ord("b")


def encode_component(label: str, value: Any) -> tuple[bytes, int, bytes]:
    """Return label, tag and value of a component; label and value are bytes.

    Raises TypeError, which names the label, for a value that has no encoding, and
    ValueError for a bad label.
    """
    name = encode_label(label)
    try:
        tag, data = encode(label, value)
    except UnicodeEncodeError as e:  # some text in the value
        raise TypeError(f"component {label!r}: {_lone(e)}; bytes can be part of a key") from None
    return name, tag, data


def encode_label(label: str) -> bytes:
    """Return the bytes of a label. Raises ValueError for a bad one."""
    try:
        name = label.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as e:
        raise ValueError(f"component label {label[:40]!r}: {_lone(e)}") from None
    if not 0 < len(name) <= 1024:
        raise ValueError(f"component label {label[:40]!r}: want 1 to 1024 bytes")
    return name


def _lone(error: UnicodeEncodeError) -> str:
    return f"text with the lone surrogate {error.object[error.start]!r} is no UTF-8"


def join(name: bytes, tag: int, data: bytes) -> bytes:
    """Return a component as ``jitcache_key_add_packed`` takes it."""
    return b"".join((_header(tag, len(name), len(data)), name, data))


def pack(label: str, value: Any) -> bytes:
    """Return a component in its packed form. Raises as ``encode_component``."""
    return join(*encode_component(label, value))


def encode(label: str, value: Any) -> tuple[int, bytes]:  # noqa: C901 - a row for each type
    """Return tag and bytes of a value."""
    if isinstance(value, str):
        return BYTES, value.encode("utf-8", "surrogateescape")  # "b"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return BYTES, bytes(value)
    if value is None:
        return 110, b""  # "n"
    if isinstance(value, bool):
        return 116, b"\x01" if value else b"\x00"  # "t"
    if isinstance(value, int):
        return 105, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)  # "i"
    if isinstance(value, float):
        return 102, _NAN if value != value else _double(value)  # noqa: PLR0124  "f"; math.isnan needs an import
    if isinstance(value, (list, tuple)):
        return 108, _count(len(value)) + b"".join(_nested(label, v) for v in value)  # "l"
    if isinstance(value, dict):
        return 100, _encode_dict(label, value)  # "d"
    if isinstance(value, (set, frozenset)):
        return 115, _count(len(value)) + b"".join(sorted(_nested(label, v) for v in value))  # "s"
    number = _plain_number(value)
    if number is not None:
        return encode(label, number)
    raise TypeError(
        f"component {label!r}: {type(value).__module__}.{type(value).__qualname__} cannot be part of a key; "
        "use jitcache.File(p) for the content of a file, jitcache.Tool(p) for a compiler, str(p) for the text"
    )


def _plain_number(value: Any) -> Any:
    """Return a scalar of NumPy as Python's own number; None for anything else, and where a float would lose digits."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.bool_, numpy.integer, numpy.floating)):
        return None
    number = value.item()
    return number if isinstance(number, (bool, int, float)) else None


def _nested(label: str, value: Any) -> bytes:
    tag, data = encode(label, value)
    return _value_header(tag, len(data)) + data


def _encode_dict(label: str, value: dict[Any, Any]) -> bytes:
    items = []
    for k, v in value.items():
        if not isinstance(k, str):
            raise TypeError(f"component {label!r}: the keys of a dict must be str, not {type(k).__qualname__}")
        items.append((k.encode("utf-8", "surrogateescape"), v))
    items.sort(key=lambda item: item[0])
    return _count(len(items)) + b"".join(_count(len(k)) + k + _nested(label, v) for k, v in items)
