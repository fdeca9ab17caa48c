"""Sealed keys, read and written in Python: docs/format.md, "Sealed key"."""

from __future__ import annotations

import struct

MAGIC = b"jckey\x00\x00\x02"
# The magic of keys that were made without the library, which refuses them.
_MAGIC_WITHOUT = b"jcnone\x00\x01"
KIND = slice(40, 56)
_HEAD = 56


def with_kind(sealed: bytes, kind: str) -> bytes:
    """Return the sealed key with another kind."""
    if not isinstance(kind, str):
        raise TypeError(f"kind: want str, not {type(kind).__qualname__}")
    raw = kind.encode("ascii", "replace")
    if not 0 < len(raw) <= 16:
        raise ValueError(f"kind {kind!r}: want 1 to 16 of a-z, 0-9, '_', '-', '.'")
    return sealed[:40] + raw.ljust(16, b"\x00") + sealed[_HEAD:]


def with_name(sealed: bytes, name: str) -> bytes:
    """Return the sealed key with another name."""
    if not isinstance(name, str):
        raise TypeError(f"key name: want str, not {type(name).__qualname__}")
    try:
        raw = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError(f"key name {name[:40]!r}: a lone surrogate is no UTF-8") from None
    if len(raw) > 1024 or b"\x00" in raw:
        raise ValueError(f"key name {name[:40]!r}: want at most 1024 bytes and no NUL")
    (old,) = struct.unpack_from("<H", sealed, _HEAD)
    return sealed[:_HEAD] + struct.pack("<H", len(raw)) + raw + sealed[_HEAD + 2 + old :]


def bare(digest: bytes) -> bytes:
    """Return the sealed form of a key when only its digest is known."""
    return MAGIC + digest + b"generic".ljust(16, b"\x00") + struct.pack("<HII", 0, 0, 0)


def without_library(components: dict[str, bytes]) -> bytes:
    """Return a sealed key for packed components where the library is missing.

    Its digest is SHA-256, not the library's. Such a key can be compared and hashed in
    this program, and never leads to an entry.
    """
    import hashlib

    parts = sorted((label.encode("utf-8", "surrogateescape"), data) for label, data in components.items())
    whole = hashlib.sha256()
    for label, data in parts:
        whole.update(struct.pack("<QQ", len(label), len(data)) + label + data)
    out = _MAGIC_WITHOUT + whole.digest() + b"generic".ljust(16, b"\x00") + struct.pack("<HI", 0, len(parts))
    for label, data in parts:
        out += hashlib.sha256(data).digest()[:8] + struct.pack("<H", len(label)) + label
    return out + struct.pack("<I", 0)


def parse(sealed: bytes) -> tuple[str, dict[str, str]]:
    """Return the name, and 16 hex digits by label, of a sealed key. Raises ValueError for other bytes."""
    try:
        return _parse(sealed)
    except (struct.error, IndexError):
        raise ValueError("sealed key: malformed") from None


def _parse(sealed: bytes) -> tuple[str, dict[str, str]]:
    if sealed[:8] not in (MAGIC, _MAGIC_WITHOUT):
        raise ValueError("sealed key: malformed")
    (n,) = struct.unpack_from("<H", sealed, _HEAD)
    at = _HEAD + 2 + n
    name = sealed[_HEAD + 2 : at].decode("utf-8", "surrogateescape")
    (count,) = struct.unpack_from("<I", sealed, at)
    at += 4
    components = {}
    for _ in range(count):
        short, n = struct.unpack_from("<8sH", sealed, at)
        at += 10
        components[sealed[at : at + n].decode("utf-8", "surrogateescape")] = short.hex()
        at += n
    struct.unpack_from("<I", sealed, at)
    return name, components
