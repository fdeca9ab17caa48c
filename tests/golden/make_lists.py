"""Writes lists.jcset and lists.below from docs/format.md, sharing no code with the package."""

from __future__ import annotations

import struct
from pathlib import Path

import blake3


def number(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def signed(n: int) -> bytes:
    return number(n << 1 if n >= 0 else (-n << 1) - 1)


def text(b: bytes) -> bytes:
    return number(len(b)) + b


def texts(*all_of_them: bytes) -> bytes:
    return number(len(all_of_them)) + b"".join(map(text, all_of_them))


def digest(b: bytes) -> bytes:
    return blake3.blake3(b).digest()


def table(items: list[tuple[bytes, bytes]]) -> bytes:
    """Items that begin with a path."""
    out, last = number(len(items)), b""
    for path, rest in items:
        shared = 0
        while shared < min(len(path), len(last)) and path[shared] == last[shared]:
            shared += 1
        out += number(shared) + text(path[shared:]) + rest
        last = path
    return out


def stamp(n: int, mount: int = 0) -> bytes:
    ctime, mtime, asked = 1_700_000_000_223_456_789, 1_700_000_000_123_456_789, 1_700_000_100_000_000_000
    return (
        number(2049)
        + number(n)
        + number(10 * n)
        + signed(ctime)
        + signed(ctime - mtime)
        + signed(asked - ctime)
        + number(mount)
    )


def file(flags: int, mode: int, at: bytes, content: bytes) -> bytes:
    return number(flags) + number(mode) + at + digest(content)


NOBODY = 2**64 - 1
NEVER = number(0) * 3 + signed(0) * 3 + number(NOBODY)

FULL = b"".join([
    b"jclist\0\6",
    table([
        (b"/etc/ld.so.cache", file(4, 0o100644, stamp(1), b"cache")),
        (b"/usr/bin/gcc", file(1, 0o100755, stamp(2), b"gcc")),
        (b"/usr/bin/gcc-\xff", file(2 | 8, 0o100755, stamp(3), b"same")),
        (b"inc/b.h", file(8 | 32, 0o100600, stamp(4, 0x1234567890ABCDEF), b"same") + number(1000 << 32 | 100)),
    ]),
    table([
        (b"/usr/include", number(7) + stamp(5) + texts(b"a.h", b"b.h") + digest(b"names") + texts(b"made")),
        (b"inc", number(0) + NEVER + texts(b"c.h")),
    ]),
    table([(b"/usr/bin/cc", text(b"gcc")), (b"/usr/bin/ld", text(b"x86_64-linux-gnu-ld"))]),
    table([(b"/closed/secret", number(13))]),
    table([
        (b"/closed", number(0o040700) + number(1)),
        (b"/dev/null", number(0o020000) + number(2) + number(1 << 32 | 3)),
        (b"inc/pipe", number(0o010644) + number(1 | 4 | 8) + signed(1_700_000_000_123_456_789) + number(1000 << 32 | 100)),
    ]),
    table([(b"/closed", number(10) + number(13)), (b"inc", number(2) + number(0))]),
    text(b"/home/user"), number(1), texts(b"PWD"),
    number(2), text(b"CPATH"), b"\1" + bytes(15), text(b"PATH"), b"\2" + bytes(15),
    number(1), digest(b"cpu"), number(0), number(1), digest(b"limits"), number(1 << 3 | 1 << 7),
    text(b"\7" * 32),
])  # fmt: skip

EMPTY = b"jclist\0\6" + number(0) * 6 + text(b"") + number(0) + texts() + number(0) + number(0) * 3 + text(b"")

QUESTIONS = [
    (1, b"inc/b.h", b""),
    (2, b"CPATH", b""),
    (4, b"/usr/include", b"made/more"),
    (0, b"", b""),
    (7, b"136", b""),
]


def asked(questions: list[tuple[int, bytes, bytes]]) -> bytes:
    return b"".join(number(about) + text(a) + text(b) for about, a, b in questions)


def generation(last: bytes, questions: list[tuple[int, bytes, bytes]]) -> bytes:
    return last + number(len(questions)) + asked(questions)


def key(components: dict[bytes, bytes]) -> bytes:
    hashed = b"jitcache key 1\n" + struct.pack("<I", len(components))
    for label, value in sorted(components.items()):
        hashed += struct.pack("<H", len(label)) + label + b"b" + struct.pack("<Q", len(value)) + digest(value)
    return digest(hashed)


GENERATIONS = [generation(b"\6" * 32, QUESTIONS), generation(bytes(32), QUESTIONS[:1])]
data = b"jcset\0\0\3" + b"\5" * 32 + number(len(GENERATIONS)) + b"".join(GENERATIONS) + texts(FULL, EMPTY)
Path(__file__).with_name("lists.jcset").write_bytes(data)

ANSWERS = texts(digest(b"same"), b"unset", digest(b"names"), b"/home/user", digest(b"limits"))
BELOW = key({b"set": b"\5" * 32, b"questions": asked(QUESTIONS), b"answers": ANSWERS})
Path(__file__).with_name("lists.below").write_text(BELOW.hex() + "\n")
