"""Read what jitcache keeps on disk, by docs/format.md and nothing else.

    python tests/format/reader.py DIR

lists every entry file below DIR with its verdict, then the totals of the ledger
beside a recount of the directory.

No line of this comes from the sources of jitcache: the tests hold the two
against each other, and with that the page against both.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import blake3
import xxhash

FOOTER_SIZE = 128
FORMAT_VERSION = 1
MAX_ATTRIBUTES = 64 << 20
MAX_LABEL = 1024
MAX_NAME = 1024
MAX_PATH = 4096
TO_COUNT = 2**64 - 1
TAGS = b"bntifldsFT"

NAME_PLACES = 32
NAME_PLACE_SIZE = 2048

_FOOTER = struct.Struct("<8sIIQ16sQ32s16sqq8sQ")
_LEDGER = struct.Struct("<8sIIqqqI20s")
_LEDGER_SIZE = 14664
_SHARDS = struct.Struct("<512Q")
_COUNTERS = struct.Struct("<16s80Q")
_PLACE = struct.Struct("<8sQq")
_DAY = struct.Struct("<8sQqQ")
_DAYS = 400
_INPUT = {1: struct.Struct("<cQQQqqq32s"), 2: struct.Struct("<cQQQqqqQ32s")}  # by version

_NO_MOUNT = 2**64 - 1


class Malformed(ValueError):
    """Bytes that are not what they should be."""


class Refused(Exception):
    """A file that is no entry; the text is the reason of docs/format.md."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def digest(data: bytes) -> bytes:
    """Return the BLAKE3 of data."""
    return bytes(blake3.blake3(data).digest())


def xxh128(data: bytes) -> bytes:
    """Return XXH3-128 as the format writes it: two u64, the high half first."""
    n = xxhash.xxh3_128_intdigest(data)
    return struct.pack("<QQ", n >> 64, n & (2**64 - 1))


def xxh64(data: bytes) -> int:
    """Return XXH3-64."""
    return int(xxhash.xxh3_64_intdigest(data))


def text(data: bytes) -> str:
    """Return UTF-8 as text, and keep what is none."""
    return data.decode("utf-8", "surrogateescape")


class Cursor:
    """Takes fields off bytes, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        """Take the next size bytes."""
        if size > len(self.data) - self.at:
            raise Malformed(f"{size} bytes wanted at {self.at} of {len(self.data)}")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        """Take an unsigned number."""
        return int.from_bytes(self.take(size), "little")

    def time(self) -> int:
        """Take a time: nanoseconds since 1970."""
        return int.from_bytes(self.take(8), "little", signed=True)

    def end(self) -> None:
        """Insist that nothing is left."""
        if self.at != len(self.data):
            raise Malformed(f"{len(self.data) - self.at} bytes too many")


# ------------------------------------------------------------------------ keys


@dataclass(frozen=True)
class Component:
    """One labelled part of a key."""

    label: bytes
    tag: bytes
    value: bytes

    @property
    def short(self) -> bytes:
        """What entries and sealed keys remember of the value."""
        return digest(self.value)[:8]


def unpack_components(packed: bytes) -> list[Component]:
    """Take packed components apart."""
    components = []
    c = Cursor(packed)
    while c.at < len(packed):
        tag, label_size, size = c.take(1), c.number(2), c.number(8)
        if tag not in TAGS or not 1 <= label_size <= MAX_LABEL:
            raise Malformed(f"component with tag {tag!r} and a label of {label_size} bytes")
        label = c.take(label_size)
        components.append(Component(label, tag, c.take(size)))
    if len({component.label for component in components}) != len(components):
        raise Malformed("a label that is used twice")
    return components


def key_of(components: Iterable[Component]) -> bytes:
    """Return the key of components."""
    ordered = sorted(components, key=lambda c: c.label)
    hashed = blake3.blake3(b"jitcache key 1\n" + struct.pack("<I", len(ordered)))
    for c in ordered:
        hashed.update(struct.pack("<H", len(c.label)) + c.label + c.tag + struct.pack("<Q", len(c.value)))
        hashed.update(digest(c.value))
    return bytes(hashed.digest())


@dataclass(frozen=True)
class Input:
    """A file that was read to compute a key, was not there, or a folder for its names."""

    tag: bytes
    device: int
    inode: int
    size: int
    mtime: int
    ctime: int
    opened: int
    mount: int
    digest: bytes
    path: bytes


@dataclass(frozen=True)
class SealedKey:
    """A key with what is remembered beside it."""

    key: bytes
    kind: str
    name: str
    components: dict[str, bytes]  # label -> first 8 bytes of the digest of the value
    inputs: tuple[Input, ...]


def read_sealed(sealed: bytes) -> SealedKey:
    """Take a sealed key apart."""
    c = Cursor(sealed)
    magic = c.take(8)
    if magic[:-1] != b"jckey\0\0" or magic[-1] not in _INPUT:
        raise Malformed("not a sealed key")
    layout = _INPUT[magic[-1]]
    key, kind = c.take(32), c.take(16).rstrip(b"\0")
    if not re.fullmatch(rb"[a-z0-9_.-]{1,16}", kind):
        raise Malformed(f"kind {kind!r}")
    name_size = c.number(2)
    if name_size > MAX_NAME:
        raise Malformed(f"name of {name_size} bytes")
    name = text(c.take(name_size))
    components = []
    for _ in range(c.number(4)):
        short, label_size = c.take(8), c.number(2)
        if not 1 <= label_size <= MAX_LABEL:
            raise Malformed(f"label of {label_size} bytes")
        components.append((c.take(label_size), short))
    labels = [label for label, _ in components]
    if labels != sorted(set(labels)):
        raise Malformed("labels that do not ascend")
    inputs = []
    for _ in range(c.number(4)):
        *fields, digest = layout.unpack(c.take(layout.size))
        mount = fields.pop() if magic[-1] == 2 else _NO_MOUNT
        path_size = c.number(2)
        path = c.take(path_size)
        if fields[0] not in (b"F", b"T", b"A", b"D") or path_size > MAX_PATH or not path.startswith(b"/"):
            raise Malformed(f"input with tag {fields[0]!r} and path {path[:80]!r}")
        inputs.append(Input(*fields, mount, digest, path))
    c.end()
    return SealedKey(key, kind.decode(), name, {text(label): short for label, short in components}, tuple(inputs))


# --------------------------------------------------------------------- entries


@dataclass(frozen=True)
class Entry:
    """What an entry file says."""

    key: bytes
    payload: bytes
    kind: str
    created: int
    cost: int
    name: str
    components: dict[str, bytes]
    attributes: bytes  # the text of a JSON object, empty if there is none


def read_records(attributes: bytes) -> list[tuple[int, bytes]]:
    """Take attributes apart into tags and data."""
    if attributes[:1] != b"\0":
        raise Refused("malformed")
    records = []
    c = Cursor(attributes)
    c.take(1)
    try:
        while c.at < len(attributes):
            tag, size = c.number(1), c.number(4)
            data = c.take(size)
            if c.take(1) != b"\0" or (tag == 2 and size < 8):
                raise Refused("malformed")
            records.append((tag, data))
    except Malformed:
        raise Refused("malformed") from None
    return records


def read_file(f: int, key: bytes) -> Entry:
    """Read the open file f as the entry of key; raise Refused."""
    size = os.fstat(f).st_size
    footer = os.pread(f, FOOTER_SIZE, size - FOOTER_SIZE) if size >= FOOTER_SIZE else b""
    if not footer.startswith(b"jitcache"):
        raise Refused("truncated")
    _, version, a_size, p_size, p_hash, a_hash, file_key, kind, created, cost, _, f_hash = _FOOTER.unpack(footer)
    if version > FORMAT_VERSION:
        raise Refused("newer format")
    if version < FORMAT_VERSION:
        raise Refused("malformed")
    if f_hash != xxh64(footer[:120]):
        raise Refused("checksum")
    if a_size > MAX_ATTRIBUTES or p_size + a_size + FOOTER_SIZE != size:
        raise Refused("truncated")
    if file_key != key:
        raise Refused("foreign key")
    attributes = os.pread(f, a_size, p_size)
    if xxh64(attributes) != a_hash:
        raise Refused("checksum")
    records = read_records(attributes)
    payload = os.pread(f, p_size, 0)
    if xxh128(payload) != p_hash:
        raise Refused("checksum")

    def one(tag: int) -> bytes:
        return next((data for t, data in records if t == tag), b"")

    components = {text(data[8:]): data[:8] for tag, data in records if tag == 2}
    return Entry(key, payload, text(kind.rstrip(b"\0")), created, cost, text(one(1)), components, one(3))


def entry_path(root: Path, key: bytes) -> Path:
    """Return where the entry of key is kept."""
    return root / "v1" / "entries" / key.hex()[:2] / (key.hex()[2:] + ".jce")


def read_entry(root: Path, key: bytes, *, shared: bool = False) -> Entry:
    """Read the entry of key; raise Refused with the reason that a lookup gives."""
    path = entry_path(root, key)
    for part in (root / "v1", root / "v1" / "entries", path.parent, path):
        try:
            mode = part.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise Refused("absent") from None
        except PermissionError:
            raise Refused("permission") from None
        if stat.S_ISLNK(mode):
            raise Refused("symlink")
    if stat.S_ISSOCK(mode):  # nobody may open these, whatever their mode
        raise Refused("not a regular file")
    try:
        f = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except PermissionError:
        raise Refused("permission") from None
    try:
        status = os.fstat(f)
        if not stat.S_ISREG(status.st_mode):
            raise Refused("not a regular file")
        if not shared and (status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022):
            raise Refused("wrong owner")
        return read_file(f, key)
    finally:
        os.close(f)


def entry_keys(root: Path) -> Iterator[bytes]:
    """Yield the key of each thing that stands where entries do."""
    folder = root / "v1" / "entries"
    for shard in sorted(os.listdir(folder)):
        if not re.fullmatch("[0-9a-f]{2}", shard) or not stat.S_ISDIR((folder / shard).lstat().st_mode):
            continue
        for name in sorted(os.listdir(folder / shard)):
            if re.fullmatch(r"[0-9a-f]{62}\.jce", name):
                yield bytes.fromhex(shard + name[:62])


# ------------------------------------------------------------ ledger and names


@dataclass(frozen=True)
class Ledger:
    """The sizes and counters of a directory."""

    hand: int
    swept: int
    zeroed: int
    not_stored: int
    not_stored_reason: int
    shards: tuple[tuple[int, int], ...]  # bytes and number; TO_COUNT: not known
    kinds: tuple[tuple[str, tuple[int, ...]], ...]  # name and counters; the last is for all that found no place

    def count(self, kind: str, counter: int) -> int:
        """Return a counter of a kind."""
        return sum(counters[counter] for name, counters in self.kinds if name == kind)

    def total(self) -> tuple[int, int] | None:
        """Return bytes and number of all shards; None if one is not known."""
        if any(number == TO_COUNT for _, number in self.shards):
            return None
        return sum(size for size, _ in self.shards), sum(number for _, number in self.shards)


def read_ledger(root: Path) -> Ledger | None:
    """Read the ledger; None if it is damaged."""
    data = (root / "v1" / "ledger").read_bytes()
    if len(data) != _LEDGER_SIZE or xxh64(data[:-8]) != int.from_bytes(data[-8:], "little"):
        return None
    magic, version, hand, swept, zeroed, not_stored, reason, _ = _LEDGER.unpack_from(data)
    if magic != b"jcledger" or version != 1:
        return None
    cells = _SHARDS.unpack_from(data, 64)
    kinds = read_kinds(data[4160:-8], 16)
    return Ledger(hand, swept, zeroed, not_stored, reason, tuple(zip(cells[::2], cells[1::2])), kinds)


def read_kinds(data: bytes, n: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Read n kinds: their names and counters."""
    places = (_COUNTERS.unpack_from(data, place * _COUNTERS.size) for place in range(n))
    return tuple((text(name.rstrip(b"\0")), tuple(counters)) for name, *counters in places)


def read_days(root: Path) -> dict[int, dict[str, tuple[int, ...]]]:
    """Read what was counted on each day that is remembered: kinds and counters."""
    try:
        data = (root / "v1" / "days").read_bytes()
    except FileNotFoundError:
        return {}
    days: dict[int, dict[str, tuple[int, ...]]] = {}
    size = _DAY.size + 16 * _COUNTERS.size
    for slot in range(_DAYS):
        place = data[slot * size : (slot + 1) * size].ljust(size, b"\0")
        magic, checksum, day, kinds = _DAY.unpack_from(place)
        if magic != b"jcdays\0\1" or kinds > 16 or checksum != xxh64(place[16 : _DAY.size + kinds * _COUNTERS.size]):
            continue
        if day % _DAYS == slot:
            days[day] = dict(read_kinds(place[_DAY.size :], kinds))
    return days


def recount(root: Path) -> dict[int, tuple[int, int]]:
    """Return bytes and number of the files of each shard that has any."""
    cells: dict[int, tuple[int, int]] = {}
    for key in entry_keys(root):
        status = entry_path(root, key).lstat()
        if stat.S_ISREG(status.st_mode):
            size, number = cells.get(key[0], (0, 0))
            cells[key[0]] = size + status.st_size, number + 1
    return cells


@dataclass(frozen=True)
class Named:
    """What the names table knows of a name."""

    written: int
    last: SealedKey
    last_time: int
    before: SealedKey | None
    before_time: int


def read_place(place: bytes) -> Named | None:
    """Read one place of the names table; None if it is empty or damaged."""
    try:
        c = Cursor(place)
        magic, checksum, written = _PLACE.unpack(c.take(_PLACE.size))
        last, last_time = read_sealed(c.take(c.number(4))), c.time()
        size = c.number(4)
        before, before_time = (read_sealed(c.take(size)), c.time()) if size else (None, 0)
    except Malformed:
        return None
    if magic != b"jcname\0\1" or checksum != xxh64(place[16 : c.at]):
        return None
    return Named(written, last, last_time, before, before_time)


def read_name(root: Path, name: str) -> Named | None:
    """Look a name up in the names table."""
    h = digest(name.encode("utf-8", "surrogateescape"))
    try:
        table = (root / "v1" / "names" / f"{h[0]:02x}").read_bytes()
    except FileNotFoundError:
        return None
    first = 4 * (h[1] % 8)
    for place in range(first, first + 4):
        named = read_place(table[place * NAME_PLACE_SIZE : (place + 1) * NAME_PLACE_SIZE])
        if named is not None and named.last.name == name:
            return named
    return None


def main(root: Path) -> int:
    """List the directory."""
    bad = 0
    for key in entry_keys(root):
        try:
            entry = read_entry(root, key)
            print(f"{key.hex()}  good  {entry.kind:16} {len(entry.payload):>12}  {entry.name}")
        except Refused as refused:
            bad += 1
            print(f"{key.hex()}  {refused.reason}")
    cells = recount(root).values()
    ledger = read_ledger(root)
    total = None if ledger is None else ledger.total()
    print("ledger:    " + ("not known" if total is None else f"{total[1]} entries, {total[0]} bytes"))
    print(f"directory: {sum(n for _, n in cells)} entries, {sum(size for size, _ in cells)} bytes; {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    sys.exit(main(Path(sys.argv[1])))
