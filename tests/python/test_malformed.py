"""Malformed files in the place of entries: each is a miss with its reason for all readers, and a put replaces it.

A case spoils one good entry and says the reason that docs/format.md gives.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jitcache
import pytest
from format import reader, writer

ROOT = os.geteuid() == 0
STRANGER = 54321  # a user id that owns nothing
SECOND = 1.0
GIGABYTE = 1 << 30
TERABYTE = 1 << 40

TRUNCATED, CHECKSUM, FOREIGN, NEWER = "truncated", "checksum", "foreign key", "newer format"
MALFORMED, NOT_REGULAR, WRONG_OWNER = "malformed", "not a regular file", "wrong owner"
SYMLINK, PERMISSION, ABSENT = "symlink", "permission", "absent"

# The reasons for which `verify` removes a file; others it only reports.
REMOVED = {TRUNCATED, CHECKSUM, FOREIGN, MALFORMED, NOT_REGULAR}

# ------------------------------------------------------------- the good entries


@dataclass(frozen=True)
class Base:
    """A good entry, as arguments of Cache.put."""

    key: jitcache.Key
    payload: bytes
    kind: str = "generic"
    attributes: dict[str, Any] | None = None


def base(name: str) -> Base:
    """Return a good entry by name."""
    if name == "elf":
        key = jitcache.Key(source="kernel", options=["-O3"], arch="sm_90").named("saxpy")
        elf = b"\x7fELF\x02\x01\x01".ljust(64, b"\0") + bytes(range(256))
        return Base(key, elf, "cubin", {"lowered": {"f<int>": "_Z1fIiEvv"}})
    if name == "text":
        return Base(jitcache.Key.from_hex("ab" * 32), b"// nothing beside the payload\n.version 8.3\n")
    if name == "empty":
        return Base(jitcache.Key(v=1).named("nm"), b"", "native", {"a": 1})
    if name == "bare":
        return Base(jitcache.Key.from_hex("cd" * 32), b"")
    assert name == "large"  # larger than the part that is read before the footer is checked
    return Base(jitcache.Key(size="large").named("large"), b"0123456789abcdef" * (17 << 16))


NEIGHBOUR = Base(jitcache.Key(neighbour=True).named("neighbour"), b"the neighbour's payload", "cubin", {"n": 1})


@dataclass(frozen=True)
class Place:
    """A cache directory with a good entry that will be spoiled, and its neighbour."""

    root: Path
    base: Base

    @property
    def id(self) -> bytes:
        return bytes.fromhex(self.base.key.hex)

    @property
    def path(self) -> Path:
        return reader.entry_path(self.root, self.id)

    @property
    def neighbour(self) -> Path:
        return reader.entry_path(self.root, bytes.fromhex(NEIGHBOUR.key.hex))

    def replace(self, data: bytes) -> None:
        self.path.write_bytes(data)


@dataclass(frozen=True)
class Good:
    """The parts of a good entry file."""

    id: bytes
    payload: bytes
    attributes: bytes
    footer: bytes
    neighbour: bytes  # the whole file

    @property
    def data(self) -> bytes:
        return self.payload + self.attributes + self.footer

    def with_footer(self, **fields: Any) -> bytes:
        """Return the file with other fields in its footer, under a checksum that is right."""
        footer = writer.footer(self.id, self.payload, self.attributes, **fields)
        return self.payload + self.attributes + footer

    def with_attributes(self, attributes: bytes, **fields: Any) -> bytes:
        """Return the file with other attributes, under checksums that are right."""
        return self.payload + attributes + writer.footer(self.id, self.payload, attributes, **fields)


def parts_of(place: Place) -> Good:
    data = place.path.read_bytes()
    size = len(place.base.payload)
    return Good(place.id, data[:size], data[size:-128], data[-128:], place.neighbour.read_bytes())


# -------------------------------------------------------------------- the cases


@dataclass(frozen=True)
class Case:
    """One way to spoil an entry."""

    name: str
    base: str
    spoil: Callable[[Place], None]
    reason: str
    stays: str = ""  # why the next put cannot replace it; "" if it can
    stranger: bool = False  # as a user who is not root
    needs_root: bool = False


CASES: list[Case] = []


def file(name: str, base: str, reason: str, make: Callable[[Good], bytes]) -> None:
    """Add a case in which the file has another content."""
    CASES.append(Case(name, base, lambda place: place.replace(make(parts_of(place))), reason))


def add(name: str, base: str, reason: str, spoil: Callable[[Place], None], **how: Any) -> None:
    """Add a case in which the file system shows something else."""
    CASES.append(Case(name, base, spoil, reason, **how))


def flip(data: bytes, at: int, bit: int = 0) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


FOOTER_FIELDS = {
    "magic": 0,
    "version": 8,
    "attributes-size": 12,
    "payload-size": 16,
    "payload-hash-high": 24,
    "payload-hash-low": 32,
    "attributes-hash": 40,
    "key": 48,
    "kind": 80,
    "created": 96,
    "cost": 104,
    "reserved": 112,
    "footer-hash": 120,
}


def truncations() -> None:
    for b in ("elf", "text", "empty", "bare", "large"):
        file(f"cut-to-nothing-{b}", b, TRUNCATED, lambda _: b"")
        file(f"cut-to-1-{b}", b, TRUNCATED, lambda g: g.data[:1])
        file(f"cut-by-1-{b}", b, TRUNCATED, lambda g: g.data[:-1])
        file(f"cut-after-attributes-{b}", b, TRUNCATED, lambda g: g.payload + g.attributes)
    for b in ("elf", "text", "large"):
        file(f"cut-in-payload-{b}", b, TRUNCATED, lambda g: g.payload[: len(g.payload) // 2])
        file(f"cut-after-payload-{b}", b, TRUNCATED, lambda g: g.payload)
        file(f"cut-before-attributes-{b}", b, TRUNCATED, lambda g: g.payload[:-1])
    for b in ("elf", "empty"):
        file(f"cut-after-zero-byte-{b}", b, TRUNCATED, lambda g: g.payload + g.attributes[:1])
        file(f"cut-in-attributes-{b}", b, TRUNCATED, lambda g: g.payload + g.attributes[: len(g.attributes) // 2])
    for field, at in FOOTER_FIELDS.items():
        if at:
            file(f"cut-before-{field}", "elf", TRUNCATED, lambda g, at=at: g.data[: at - 128])
    file("cut-before-version-bare", "bare", TRUNCATED, lambda g: g.data[: 8 - 128])
    file("cut-at-front-by-1", "elf", TRUNCATED, lambda g: g.data[1:])
    file("cut-at-front-to-footer", "elf", TRUNCATED, lambda g: g.footer)
    file("cut-at-front-to-footer-large", "large", TRUNCATED, lambda g: g.footer)
    file("cut-at-front-to-127", "bare", TRUNCATED, lambda g: g.data[-127:])
    file("hole-at-end", "elf", TRUNCATED, lambda g: g.data[:-128] + bytes(128))
    file("hole-everywhere", "elf", TRUNCATED, lambda g: bytes(len(g.data)))
    file("hole-everywhere-large", "large", TRUNCATED, lambda g: bytes(len(g.data)))


def additions() -> None:
    for b in ("elf", "bare", "large"):
        file(f"appended-newline-{b}", b, TRUNCATED, lambda g: g.data + b"\n")
        file(f"appended-its-footer-{b}", b, TRUNCATED, lambda g: g.data + g.footer)
    file("appended-zero", "elf", TRUNCATED, lambda g: g.data + b"\0")
    file("appended-a-page", "elf", TRUNCATED, lambda g: g.data + bytes(4096))
    file("appended-itself", "elf", TRUNCATED, lambda g: g.data + g.data)
    file("appended-neighbour", "elf", TRUNCATED, lambda g: g.data + g.neighbour)
    file("prepended-byte", "elf", TRUNCATED, lambda g: b"\0" + g.data)
    file("inserted-byte-after-payload", "elf", TRUNCATED, lambda g: g.payload + b"\0" + g.attributes + g.footer)
    file("text-file", "elf", TRUNCATED, lambda _: b"not an entry\n" * 100)
    file("magic-alone", "elf", TRUNCATED, lambda _: b"jitcache")


def flips() -> None:
    for b, size in (("elf", 320), ("text", 43), ("large", 17 << 20)):
        for where, at in (("first", 0), ("middle", size // 2), ("last", size - 1)):
            file(f"flipped-payload-{where}-{b}", b, CHECKSUM, lambda g, at=at: flip(g.data, at, 7))
    file("flipped-attributes-large", "large", CHECKSUM, lambda g: flip(g.data, len(g.payload) + 8))
    size = len(reader_attributes_of_empty())
    for at in range(size):
        file(f"flipped-attributes-{at:02}", "empty", CHECKSUM, lambda g, at=at: flip(g.data, at, at % 8))
    for b in ("bare", "text"):
        file(f"flipped-only-attribute-byte-{b}", b, CHECKSUM, lambda g: flip(g.data, len(g.payload)))
    for field, at in FOOTER_FIELDS.items():
        reason = {"magic": TRUNCATED, "version": MALFORMED}.get(field, CHECKSUM)
        for b in ("elf", "bare"):
            file(f"flipped-{field}-{b}", b, reason, lambda g, at=at: flip(g.data, at - 128))
    file("flipped-payload-size-large", "large", CHECKSUM, lambda g: flip(g.data, 16 - 128))
    file("flipped-key-last-byte", "elf", CHECKSUM, lambda g: flip(g.data, 79 - 128))
    file("flipped-last-bit", "elf", CHECKSUM, lambda g: flip(g.data, -1, 7))
    file("flipped-version-second-bit", "elf", NEWER, lambda g: flip(g.data, 8 - 128, 1))
    file("flipped-version-last-bit", "elf", NEWER, lambda g: flip(g.data, 11 - 128, 7))
    file("zeroed-payload", "elf", CHECKSUM, lambda g: bytes(len(g.payload)) + g.attributes + g.footer)
    file("zeroed-page-large", "large", CHECKSUM, lambda g: bytes(4096) + g.data[4096:])
    file(
        "swapped-payload-hash",
        "elf",
        CHECKSUM,
        lambda g: g.with_footer(payload_hash=reader.xxh128(g.payload)[8:] + reader.xxh128(g.payload)[:8]),
    )


def reader_attributes_of_empty() -> bytes:
    """Return the attributes of the base "empty": a zero byte, a name, a component, JSON."""
    [component] = writer.components_of({"v": 1})
    records = (1, b"nm"), (2, component.short + component.label), (3, b'{"a":1}')
    return b"\0" + b"".join(writer.record(tag, data) for tag, data in records)


def foreign() -> None:
    for b in ("elf", "bare", "large"):
        file(f"neighbours-file-{b}", b, FOREIGN, lambda g: g.neighbour)
        file(f"another-key-{b}", b, FOREIGN, lambda g: g.with_footer(key=flip(g.id, -1)))
    file("key-of-zeros", "elf", FOREIGN, lambda g: g.with_footer(key=b""))
    add("hard-link-to-neighbour", "elf", FOREIGN, lambda p: (p.path.unlink(), os.link(p.neighbour, p.path)))
    # The order of the checks.
    file("another-key-bad-attributes", "elf", FOREIGN, lambda g: g.with_footer(key=b"", attributes_hash=0))
    file("another-key-bad-payload", "elf", FOREIGN, lambda g: flip(g.with_footer(key=b""), 0))
    file("another-key-sizes-off", "elf", TRUNCATED, lambda g: g.with_footer(key=b"", payload_size=0))
    file("another-key-newer", "elf", NEWER, lambda g: g.with_footer(key=b"", version=2))


def sizes() -> None:
    total = 2**64  # payload sizes whose sum is right only if it overflows
    for b in ("elf", "bare", "large"):
        file(f"payload-size-2-63-{b}", b, TRUNCATED, lambda g: g.with_footer(payload_size=2**63))
        file(f"payload-size-max-{b}", b, TRUNCATED, lambda g: g.with_footer(payload_size=total - 1))
        file(f"attributes-size-max-{b}", b, TRUNCATED, lambda g: g.with_footer(attributes_size=2**32 - 1))
        file(f"payload-size-one-more-{b}", b, TRUNCATED, lambda g: g.with_footer(payload_size=len(g.payload) + 1))
        file(
            f"payload-size-overflows-{b}",
            b,
            TRUNCATED,
            lambda g: g.with_footer(attributes_size=64 << 20, payload_size=(len(g.data) - 128 - (64 << 20)) % total),
        )
    file("payload-size-one-less", "elf", TRUNCATED, lambda g: g.with_footer(payload_size=len(g.payload) - 1))
    file("payload-size-1-tb", "elf", TRUNCATED, lambda g: g.with_footer(payload_size=TERABYTE))
    file("payload-size-2-62", "elf", TRUNCATED, lambda g: g.with_footer(payload_size=2**62))
    file("payload-size-of-file", "elf", TRUNCATED, lambda g: g.with_footer(payload_size=len(g.data)))
    file("payload-size-0", "elf", TRUNCATED, lambda g: g.with_footer(payload_size=0))
    file("attributes-size-0", "elf", TRUNCATED, lambda g: g.with_footer(attributes_size=0))
    file("attributes-size-one-more", "elf", TRUNCATED, lambda g: g.with_footer(attributes_size=len(g.attributes) + 1))
    file("attributes-size-2-31", "elf", TRUNCATED, lambda g: g.with_footer(attributes_size=2**31))
    file("both-sizes-0", "elf", TRUNCATED, lambda g: g.with_footer(payload_size=0, attributes_size=0))
    # The sum of these is right, but the boundary is in another place.
    file(
        "boundary-moved",
        "elf",
        CHECKSUM,
        lambda g: g.with_footer(payload_size=len(g.payload) - 1, attributes_size=len(g.attributes) + 1),
    )
    file(
        "all-is-payload",
        "elf",
        CHECKSUM,
        lambda g: g.with_footer(payload_size=len(g.payload) + len(g.attributes), attributes_size=0),
    )
    file(
        "all-is-attributes",
        "elf",
        CHECKSUM,
        lambda g: g.with_footer(payload_size=0, attributes_size=len(g.payload) + len(g.attributes)),
    )
    # A limit of the format, in a file that is right otherwise.
    add(
        "attributes-beyond-64-mib",
        "bare",
        TRUNCATED,
        lambda p: sparse(p, (64 << 20) + 1, writer.footer(p.id, b"", b"", attributes_size=(64 << 20) + 1)),
    )
    file("payload-hash-of-nothing", "elf", CHECKSUM, lambda g: g.with_footer(payload_hash=reader.xxh128(b"")))
    file("attributes-hash-of-nothing", "elf", CHECKSUM, lambda g: g.with_footer(attributes_hash=reader.xxh64(b"")))
    file("sizes-off-bad-footer", "elf", CHECKSUM, lambda g: flip(g.with_footer(payload_size=2**63), -1))


def malformed() -> None:
    r = writer.record
    blocks = {
        "nothing": b"",
        "no-zero-byte": b"\1",
        "no-zero-byte-then-record": r(1, b"name"),
        "one-byte-more": b"\0\0",
        "header-of-4-bytes": b"\0\3\0\0\0",
        "header-of-5-bytes": b"\0\3\0\0\0\0",
        "beyond-the-end": b"\0" + struct.pack("<BI", 1, 100) + b"name\0",
        "beyond-the-end-by-1": b"\0" + struct.pack("<BI", 1, 5) + b"name\0",
        "size-2-31": b"\0" + struct.pack("<BI", 1, 2**31) + b"name\0",
        "size-max": b"\0" + struct.pack("<BI", 1, 2**32 - 1) + b"name\0",
        "size-that-wraps": b"\0" + struct.pack("<BI", 1, 2**32 - 6) + b"name\0",
        "no-trailing-zero": b"\0" + r(1, b"name")[:-1] + b"\1",
        "cut-trailing-zero": b"\0" + r(1, b"name")[:-1],
        "short-by-1": b"\0" + struct.pack("<BI", 1, 3) + b"name\0",
        "component-of-0": b"\0" + r(2, b""),
        "component-of-7": b"\0" + r(2, b"1234567"),
        "second-cut": b"\0" + r(1, b"name") + r(3, b"{}")[:-1],
        "second-component-of-7": b"\0" + r(2, b"12345678label") + r(2, b"1234567"),
        "unknown-tag-beyond-the-end": b"\0" + struct.pack("<BI", 200, 9) + b"data\0",
        "unknown-tag-no-trailing-zero": b"\0" + r(200, b"data")[:-1] + b"\1",
        "padding-behind": b"\0" + r(1, b"name") + bytes(3),
        "six-zeros-and-one": b"\0" + bytes(7),
    }
    for name, block in blocks.items():
        file(f"records-{name}", "elf", MALFORMED, lambda g, block=block: g.with_attributes(block))
    for name in ("nothing", "beyond-the-end", "component-of-7"):
        file(f"records-{name}-bare", "bare", MALFORMED, lambda g, b=blocks[name]: g.with_attributes(b))
        file(f"records-{name}-large", "large", MALFORMED, lambda g, b=blocks[name]: g.with_attributes(b))
    # Attributes come before the payload.
    file("records-malformed-bad-payload", "elf", MALFORMED, lambda g: flip(g.with_attributes(b"\0\0"), 0))
    file(
        "boundary-moved-hash-right",
        "elf",
        MALFORMED,
        lambda g: g.with_footer(
            payload_size=len(g.payload) - 1,
            attributes_size=len(g.attributes) + 1,
            attributes_hash=reader.xxh64(g.payload[-1:] + g.attributes),
        ),
    )


def newer() -> None:
    for version in (2, 255, 2**31, 2**32 - 1):
        file(f"version-{version}", "elf", NEWER, lambda g, v=version: g.with_footer(version=v))
    file("version-0", "elf", MALFORMED, lambda g: g.with_footer(version=0))
    file("version-2-large", "large", NEWER, lambda g: g.with_footer(version=2))
    file("version-2-bare", "bare", NEWER, lambda g: g.with_footer(version=2))
    file("version-2-bad-footer", "elf", NEWER, lambda g: flip(g.with_footer(version=2), -1))
    file("version-2-bad-payload", "elf", NEWER, lambda g: flip(g.with_footer(version=2), 0))
    file("version-2-sizes-off", "elf", NEWER, lambda g: g.with_footer(version=2, payload_size=2**63))


def sparse(place: Place, hole: int, end: bytes) -> None:
    """Replace the file by a sparse file with a hole before its end."""
    with open(place.path, "wb") as f:
        f.seek(hole)
        f.write(end)


def giants() -> None:
    add("grown-to-1-tb", "elf", TRUNCATED, lambda p: os.truncate(p.path, TERABYTE))
    add("grown-to-1-tb-bare", "bare", TRUNCATED, lambda p: os.truncate(p.path, TERABYTE))
    add("grown-to-17-mib", "elf", TRUNCATED, lambda p: os.truncate(p.path, 17 << 20))
    add("hole-of-1-tb-its-footer", "elf", TRUNCATED, lambda p: sparse(p, TERABYTE, parts_of(p).footer))
    add(
        "hole-of-1-tb-another-key",
        "elf",
        FOREIGN,
        lambda p: sparse(p, TERABYTE, writer.footer(b"", b"", b"", payload_size=TERABYTE)),
    )
    add(
        "hole-of-1-tb-newer",
        "elf",
        NEWER,
        lambda p: sparse(p, TERABYTE, writer.footer(p.id, b"", b"", payload_size=TERABYTE, version=2)),
    )
    add(
        "hole-of-1-tb-bad-footer",
        "elf",
        CHECKSUM,
        lambda p: sparse(p, TERABYTE, flip(writer.footer(p.id, b"", b"", payload_size=TERABYTE), -1)),
    )


def instead(make: Callable[[Place], Any]) -> Callable[[Place], None]:
    """Return a function that puts something else in the place of the file."""

    def spoil(place: Place) -> None:
        place.path.unlink()
        make(place)

    return spoil


def listen(place: Place) -> None:
    folder = os.open(place.path.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(f"/proc/self/fd/{folder}/{place.path.name}")  # the name of a socket has at most 108 bytes
    os.close(folder)


def fill_folder(place: Place) -> None:
    place.path.mkdir()
    (place.path / "file").write_bytes(b"in the way")
    (place.path / "folder").mkdir()


def link_folder(folder: Callable[[Place], Path]) -> Callable[[Place], None]:
    """Return a function that moves a folder away and leaves a symbolic link to it."""

    def spoil(place: Place) -> None:
        path = folder(place)
        path.rename(place.root / "moved")
        path.symlink_to(place.root / "moved")

    return spoil


def others() -> None:
    add(
        "symlink-to-good",
        "elf",
        SYMLINK,
        instead(lambda p: p.path.symlink_to(shutil.copy2(p.neighbour, p.root / "good"))),
    )
    add("symlink-to-itself", "elf", SYMLINK, instead(lambda p: p.path.symlink_to(p.path)))
    add("symlink-to-nothing", "elf", SYMLINK, instead(lambda p: p.path.symlink_to("nothing")))
    add("symlink-to-neighbour-bare", "bare", SYMLINK, instead(lambda p: p.path.symlink_to(p.neighbour)))
    add(
        "symlinked-folder",
        "elf",
        SYMLINK,
        link_folder(lambda p: p.path.parent),
        stays=SYMLINK,
    )
    add("fifo", "elf", NOT_REGULAR, instead(lambda p: os.mkfifo(p.path, 0o600)))
    add("fifo-large", "large", NOT_REGULAR, instead(lambda p: os.mkfifo(p.path, 0o600)))
    add("folder-empty", "elf", NOT_REGULAR, instead(lambda p: p.path.mkdir()))
    add("folder-full", "elf", NOT_REGULAR, instead(fill_folder))
    add("socket", "elf", NOT_REGULAR, instead(listen))
    add(
        "null-device",
        "elf",
        NOT_REGULAR,
        instead(lambda p: os.mknod(p.path, stat.S_IFCHR | 0o600, os.makedev(1, 3))),
        needs_root=True,
    )
    for mode in (0o620, 0o602, 0o666, 0o777, 0o420):
        add(f"mode-{mode:o}", "elf", WRONG_OWNER, lambda p, mode=mode: p.path.chmod(mode))
    add("mode-602-large", "large", WRONG_OWNER, lambda p: p.path.chmod(0o602))
    add("mode-620-bare", "bare", WRONG_OWNER, lambda p: p.path.chmod(0o620))
    add("mode-620-and-cut", "elf", WRONG_OWNER, lambda p: (p.replace(b""), p.path.chmod(0o620)))
    for b in ("elf", "large"):
        add(f"owned-by-another-{b}", b, WRONG_OWNER, lambda p: os.chown(p.path, STRANGER, -1), needs_root=True)
    add(
        "owned-by-a-third",
        "elf",
        WRONG_OWNER,
        lambda p: (p.path.chmod(0o644), os.chown(p.path, STRANGER + 1, -1)),
        needs_root=True,
        stranger=True,
    )
    for mode in (0o000, 0o200, 0o300):
        add(f"unreadable-{mode:03o}", "elf", PERMISSION, lambda p, mode=mode: p.path.chmod(mode), stranger=True)
    add(
        "unreadable-folder",
        "elf",
        PERMISSION,
        lambda p: p.path.parent.chmod(0),
        stranger=True,
        stays=PERMISSION,
    )


for group in (truncations, additions, flips, foreign, sizes, malformed, newer, giants, others):
    group()


def params() -> list[Any]:
    """Return the cases as pytest wants them."""
    return [pytest.param(c, id=c.name, marks=[pytest.mark.root] if c.needs_root else []) for c in CASES]


# -------------------------------------------------------------------- the tests


@contextlib.contextmanager
def as_user(case: Case) -> Iterator[None]:
    """Run as a user who is not root, if the case wants that and this is root."""
    if not (ROOT and case.stranger):
        yield
        return
    os.setresuid(STRANGER, STRANGER, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture(scope="module")
def templates() -> Iterator[Path]:
    """Make a folder for the good entries of each base."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def template(templates: Path, name: str) -> Path:
    """Return a directory with the good entry of a base and its neighbour."""
    root = templates / name
    if not root.exists():
        unfinished = templates / "unfinished"
        with jitcache.Cache(unfinished, memory_size=0) as cache:
            for b in (base(name), NEIGHBOUR):
                assert cache.put(b.key, b.payload, kind=b.kind, attributes=b.attributes), cache.last_reason
        unfinished.rename(root)
    return root


@pytest.fixture
def spoiled(case: Case, templates: Path) -> Iterator[Place]:
    """Make a directory in which one entry is spoiled."""
    # Not tmp_path, whose parents are closed to other users, and which pytest
    # keeps: these are large.
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "cache", base(case.base))
        shutil.copytree(template(templates, case.base), place.root, symlinks=True)
        if ROOT and case.stranger:
            for path in (Path(folder), *Path(folder).rglob("*")):
                os.chown(path, STRANGER, STRANGER)
        case.spoil(place)
        yield place
        for path in (place.path.parent, place.root):
            path.chmod(0o700)


def peak() -> int:
    """Return the largest size that this process's memory ever had."""
    found = re.search(r"VmPeak:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) << 10


def misses(place: Place) -> dict[str, str]:
    """Return the reasons that each kind of lookup gives."""
    key = place.base.key
    found = {}
    with jitcache.Cache(place.root, memory_size=0) as cache:
        for name, lookup in (("get", cache.get), ("entry", cache.entry), ("view", cache.view)):
            assert lookup(key) is None, f"{name}: a hit"
            found[name] = cache.last_miss
    with jitcache.Cache(place.root) as cache:
        assert cache.get(key) is None, "with memory: a hit"
        found["with memory"] = cache.last_miss
        assert cache.explain(key)["reason"] == cache.last_miss
    return found


def verdict(place: Place) -> str:
    """Return what the independent reader says."""
    try:
        reader.read_entry(place.root, place.id)
    except reader.Refused as refused:
        return refused.reason
    return "good"


def hit(place: Place, base: Base) -> bytes | None:
    with jitcache.Cache(place.root, memory_size=0) as cache:
        data = cache.get(base.key)
        assert data is not None, f"{base.key.name}: {cache.last_miss}"
        return data


def test_there_are_at_least_one_hundred_cases() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert len(CASES) >= 100


def test_every_reason_has_its_cases() -> None:
    assert {case.reason for case in CASES} == {
        TRUNCATED,
        CHECKSUM,
        FOREIGN,
        NEWER,
        MALFORMED,
        NOT_REGULAR,
        WRONG_OWNER,
        SYMLINK,
        PERMISSION,
    }


@pytest.mark.parametrize("name", ["elf", "text", "empty", "bare", "large"])
def test_entry_before_it_is_spoiled_is_good(name: str, templates: Path) -> None:
    # Without this test a case could pass for another reason than its own.
    place = Place(template(templates, name), base(name))
    assert hit(place, place.base) == place.base.payload
    assert verdict(place) == "good"
    assert place.path.parent != place.neighbour.parent
    good = parts_of(place)
    written = struct.unpack_from("<qq", good.footer, 96)
    fields = {"kind": place.base.kind, "created": written[0], "cost": written[1]}
    assert good.with_footer(**fields) == good.data
    if name == "empty":
        assert good.attributes == reader_attributes_of_empty()


@pytest.mark.control("nochecksum", rows=["flipped-payload-first-elf", "flipped-attributes-large"])
@pytest.mark.control("nofooter", rows=["flipped-created-elf", "flipped-cost-bare"])
@pytest.mark.parametrize("case", params())
def test_malformed_file_is_a_miss_with_its_reason(case: Case, spoiled: Place) -> None:
    jitcache.available()  # load the library before the lookup
    with as_user(case):
        before, start = peak(), time.monotonic()
        found = misses(spoiled)
        assert time.monotonic() - start < SECOND
        assert peak() - before < GIGABYTE
        assert found == dict.fromkeys(found, case.reason)
        assert verdict(spoiled) == case.reason


@pytest.mark.parametrize("case", params())
def test_next_put_replaces_malformed_file(case: Case, spoiled: Place) -> None:
    again = Base(spoiled.base.key, b"compiled again", "again")
    with as_user(case):
        with jitcache.Cache(spoiled.root, memory_size=0) as cache:
            stored = cache.put(again.key, again.payload, kind=again.kind)
            if case.stays:
                assert (stored, cache.last_reason) == (False, case.stays)
                return
            assert stored, cache.last_reason
        assert hit(spoiled, again) == again.payload
        entry = reader.read_entry(spoiled.root, spoiled.id)
        assert (entry.payload, entry.kind) == (again.payload, again.kind)
        # The target of a hard link or a symbolic link is unchanged.
        assert hit(spoiled, NEIGHBOUR) == NEIGHBOUR.payload


@pytest.mark.parametrize("case", params())
def test_verify_lists_malformed_file_with_its_reason(case: Case, spoiled: Place) -> None:
    with as_user(case), jitcache.Cache(spoiled.root, memory_size=0) as cache:
        report = cache.verify()
        removed = case.reason in REMOVED
        if not case.stays:  # else the folder is wrong
            path = os.path.join(os.path.realpath(spoiled.root), spoiled.path.relative_to(spoiled.root))
            assert report["bad"] == [{"path": path, "reason": case.reason}]
            assert os.path.lexists(spoiled.path) is not removed
        assert report["removed"] == removed
        assert cache.get(spoiled.base.key) is None
        assert cache.last_miss == (ABSENT if removed else case.reason)
        assert cache.get(NEIGHBOUR.key) == NEIGHBOUR.payload
        assert cache.verify()["bad"] == ([] if removed else report["bad"])


# ------------------------------------------------- beside the place of an entry


def test_files_that_no_key_leads_to_are_ignored(templates: Path, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    shutil.copytree(template(templates, "text"), root)
    place = Place(root, base("text"))
    strays = [
        place.path.with_name("z" * 62 + ".jce"),
        place.path.with_name(place.path.stem.upper() + ".jce"),
        place.path.with_name("a" * 61 + ".jce"),
        place.path.with_name("a" * 62 + ".JCE"),
        place.path.with_name(".jce"),
        place.path.parent.with_name("zz") / ("a" * 62 + ".jce"),
        place.path.parent.with_name("AB") / ("a" * 62 + ".jce"),
        place.path.parent.with_name("stray"),
    ]
    for path in strays:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"stray")
    assert set(reader.entry_keys(root)) == {place.id, bytes.fromhex(NEIGHBOUR.key.hex)}
    with jitcache.Cache(root, memory_size=0) as cache:
        assert len(cache) == 2
        report = cache.verify()
        assert (report["entries"], report["bad"]) == (2, [])
        cache.clear()
        assert len(cache) == 0
    assert [path for path in strays if not path.exists()] == []


@pytest.mark.parametrize("make", [lambda p: p.write_bytes(b"x"), lambda p: p.symlink_to("/")], ids=["file", "symlink"])
def test_what_stands_in_place_of_a_folder_is_ignored(
    make: Callable[[Path], Any], templates: Path, tmp_path: Path
) -> None:
    root = tmp_path / "cache"
    shutil.copytree(template(templates, "text"), root)
    make(root / "v1" / "entries" / "00")
    with jitcache.Cache(root, memory_size=0) as cache:
        assert len(cache) == 2
        assert cache.verify()["entries"] == 2
        cache.trim()
        cache.clear()
        assert len(cache) == 0


def test_entry_larger_than_memory_is_a_miss(templates: Path, tmp_path: Path) -> None:
    root = tmp_path / "cache"
    shutil.copytree(template(templates, "elf"), root)
    place = Place(root, base("elf"))
    # Right in every respect that can be checked without reading a terabyte.
    footer = writer.footer(place.id, b"", b"\0", payload_size=TERABYTE)
    sparse(place, TERABYTE, b"\0" + footer)
    script = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({8 * GIGABYTE}, {8 * GIGABYTE}))  # however much the kernel would allocate
import jitcache
key = jitcache.Key.from_hex({place.id.hex()!r})
for memory in (None, 0):
    with jitcache.Cache({str(root)!r}, memory_size=memory) as cache:
        assert cache.get(key) is None
        assert cache.last_miss == "no memory", cache.last_miss
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    p = subprocess.run([sys.executable, "-c", script], env=environment, check=False, capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
