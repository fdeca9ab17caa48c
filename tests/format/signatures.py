"""Verifies signatures on entries by docs/format.md and RFC 8032, and by nothing of the library."""

from __future__ import annotations

import base64
import hashlib
import struct
from pathlib import Path

from blake3 import blake3

from . import reader

# The curve of RFC 8032, section 5.1: -x^2 + y^2 = 1 + d x^2 y^2 over the integers modulo P.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)

Point = tuple[int, int, int, int]  # x = X/Z, y = Y/Z, xy = T/Z


def _x_of(y: int, odd: int) -> int | None:
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if (x * x - square) % P != 0 or (x == 0 and odd):
        return None
    return P - x if x & 1 != odd else x


def _add(a: Point, b: Point) -> Point:
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    w, x, y, z = f - e, h - g, h + g, f + e
    return w * x % P, y * z % P, x * y % P, w * z % P


def _times(n: int, point: Point) -> Point:
    total: Point = (0, 1, 1, 0)
    while n > 0:
        if n & 1:
            total = _add(total, point)
        point, n = _add(point, point), n >> 1
    return total


def _point(data: bytes) -> Point | None:
    number = int.from_bytes(data, "little")
    y = number & ((1 << 255) - 1)
    x = _x_of(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


_BASE_Y = 4 * pow(5, P - 2, P) % P
_BASE_X = _x_of(_BASE_Y, 0)
assert _BASE_X is not None
BASE: Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % P)


def holds(public: bytes, message: bytes, signature: bytes) -> bool:
    """Verify an ed25519 signature (RFC 8032, section 5.1.7)."""
    a, r = _point(public), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER or len(signature) != 64:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    left, right = _times(s, BASE), _add(r, _times(k, a))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


def public_key(text: str) -> bytes:
    """Return the bytes of a key as text."""
    head, _, rest = text.partition(":")
    assert head == "ed25519"
    return base64.urlsafe_b64decode(rest + "=")


def message(namespace: str, key: bytes, kind: str, created: int, cost: int, payload: bytes, attributes: bytes) -> bytes:
    """Return what is signed; attributes are without the signatures."""
    return b"".join([
        b"jitcache signature 1\n", struct.pack("<H", len(namespace.encode())), namespace.encode(), key,
        kind.encode().ljust(16, b"\0"), struct.pack("<qqQ", created, cost, len(payload)),
        blake3(payload).digest(), blake3(attributes).digest(),
    ])  # fmt: skip


def signers(file: Path, namespace: str) -> list[tuple[bytes, bool]]:
    """Return the keys that have signed an entry, each with whether its signature holds."""
    data = file.read_bytes()
    footer = data[-128:]
    size_attributes, size_payload = struct.unpack_from("<IQ", footer, 12)
    payload, attributes = data[:size_payload], data[size_payload : size_payload + size_attributes]
    plain, found = b"\0", []
    for tag, content in reader.read_records(attributes):
        if tag == 4:
            found.append((content[:32], content[32:]))
        else:
            plain += struct.pack("<BI", tag, len(content)) + content + b"\0"
    created, cost = struct.unpack_from("<qq", footer, 96)
    kind = footer[80:96].rstrip(b"\0").decode()
    said = message(namespace, footer[48:80], kind, created, cost, payload, plain)
    return [(public, holds(public, said, signature)) for public, signature in found]
