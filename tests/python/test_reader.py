"""The independent reader (tests/format/reader.py) and jitcache see the same in a healthy directory."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jitcache
import pytest
from format import reader, writer

KINDS = ("generic", "cubin", "native")
NAMES = ("", "saxpy", "stokes residual", "größe 大小", "caf\udce9", "n" * 300, "a.b/c", "\u00e9", "e\u0301")
HITS_ON_DISK, PUTS, MISSES = 1, 2, 16
ABSENT = 1

DAY = 24 * 3600 * 10**9  # nanoseconds

READER = Path(reader.__file__)
GOLDEN = Path(__file__).resolve().parent.parent / "golden"


@dataclass(frozen=True)
class Stored:
    """The arguments of a call of Cache.put."""

    key: jitcache.Key
    values: dict[str, Any]
    payload: bytes
    kind: str
    attributes: dict[str, Any] | None

    @property
    def id(self) -> bytes:
        return bytes.fromhex(self.key.hex)


def random_value(r: random.Random, depth: int = 0) -> Any:
    """Return a value of any type that a key takes."""
    simple = [
        None,
        True,
        False,
        r.getrandbits(r.randrange(1, 300)) * r.choice((1, -1)),
        r.uniform(-1e9, 1e9),
        r.randbytes(r.randrange(2000)),
        "".join(map(chr, r.choices(range(1, 0x3000), k=r.randrange(40)))),
    ]
    if depth > 3 or r.random() < 0.6:
        return r.choice(simple)
    items = [random_value(r, depth + 1) for _ in range(r.randrange(5))]
    return r.choice((items, tuple(items), {f"k{r.random()}": v for v in items}, set(map(str, items))))


def fill(root: Path, r: random.Random) -> list[Stored]:
    """Put two hundred entries; return them in order."""
    stored = []
    with jitcache.Cache(root, memory_size=0) as cache:
        for n in range(200):
            values = {"n": n, **{f"label {i}": random_value(r) for i in range(r.randrange(6))}}
            name = r.choice(NAMES)
            key = jitcache.Key(values).named(name) if name else jitcache.Key(values)
            attributes = r.choice((None, {}, {"a": "größe", "n": [n]}))
            s = Stored(key, values, r.randbytes(r.choice((0, 1, 100, 5000, 70_000))), r.choice(KINDS), attributes)
            assert cache.put(key, s.payload, attributes=attributes, kind=s.kind)
            stored.append(s)
    return stored


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Stored]]:
    root = tmp_path_factory.mktemp("healthy") / "cache"
    with pytest.MonkeyPatch.context() as m:
        for name in os.environ:
            if name.startswith("JITCACHE") and name != "JITCACHE_LIBRARY":
                m.delenv(name)
        return root, fill(root, random.Random(20260101))


Healthy = tuple[Path, list[Stored]]


def test_reader_finds_every_entry_as_it_was_stored(healthy: Healthy) -> None:
    root, stored = healthy
    assert set(reader.entry_keys(root)) == {s.id for s in stored}
    for s in stored:
        entry = reader.read_entry(root, s.id)
        assert entry.payload == s.payload
        assert (entry.kind, entry.name) == (s.kind, s.key.name)
        assert {label: short.hex() for label, short in entry.components.items()} == s.key.components
        if s.attributes is None:
            assert entry.attributes == b""
        else:
            assert json.loads(entry.attributes) == s.attributes


def test_reader_computes_the_same_keys(healthy: Healthy) -> None:
    for s in healthy[1]:
        components = writer.components_of(s.values)
        assert reader.key_of(components) == s.id
        assert reader.unpack_components(writer.pack(components)) == components


def test_writer_makes_the_same_files(healthy: Healthy) -> None:
    # jitcache's files have nothing that is not in docs/format.md.
    root, stored = healthy
    for s in stored:
        file = reader.entry_path(root, s.id).read_bytes()
        found = reader.read_entry(root, s.id)
        again = writer.entry_file(
            s.payload,
            components=writer.components_of(s.values),
            name=s.key.name,
            attributes=found.attributes,
            kind=s.kind,
            created=found.created,
            cost=found.cost,
        )
        assert again == file


def test_times_of_entries_ascend(healthy: Healthy) -> None:
    root, stored = healthy
    created = [reader.read_entry(root, s.id).created for s in stored]
    assert created == sorted(set(created))


def test_verify_agrees_that_all_is_well(healthy: Healthy) -> None:
    root, stored = healthy
    with jitcache.Cache(root, readonly=True) as cache:
        report = cache.verify()
    assert (report["entries"], report["bad"]) == (len(stored), [])
    assert report["bytes"] == sum(size for size, _ in reader.recount(root).values())


def test_ledger_holds_what_a_recount_finds(healthy: Healthy) -> None:
    root, stored = healthy
    ledger = reader.read_ledger(root)
    assert ledger is not None
    cells = {shard: cell for shard, cell in enumerate(ledger.shards) if cell != (0, 0)}
    assert cells == reader.recount(root)
    total = ledger.total()
    assert total is not None
    assert total[1] == len(stored)
    with jitcache.Cache(root, readonly=True) as cache:
        stats = cache.stats()
    assert (stats["bytes"], stats["entries"]) == total


def test_ledger_counts_puts_hits_and_misses_by_kind(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    with jitcache.Cache(root, memory_size=0) as cache:
        for n, kind in enumerate(KINDS):
            for i in range(n + 1):
                assert cache.put(jitcache.Key(n=n, i=i), b"data", kind=kind)
            for _ in range(5 * (n + 1)):
                assert cache.get(jitcache.Key(n=n, i=0)) == b"data"
        for n in range(7):
            assert cache.get(jitcache.Key(n=n, absent=True)) is None
    ledger = reader.read_ledger(root)
    assert ledger is not None
    for n, kind in enumerate(KINDS):
        assert ledger.count(kind, PUTS) == n + 1
        assert ledger.count(kind, HITS_ON_DISK) == 5 * (n + 1)
    assert ledger.count("generic", MISSES + ABSENT) == 7


def test_days_count_what_the_ledger_counts(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    first = time.time_ns() // DAY
    with jitcache.Cache(root, memory_size=0) as cache:
        for n, kind in enumerate(KINDS):
            assert cache.put(jitcache.Key(n=n), b"data", kind=kind)
            assert cache.get(jitcache.Key(n=n)) == b"data"
        assert cache.get(jitcache.Key(absent=True)) is None
    ledger = reader.read_ledger(root)
    assert ledger is not None
    ((day, kinds),) = reader.read_days(root).items()
    assert first <= day <= time.time_ns() // DAY
    assert kinds == {kind: counters for kind, counters in ledger.kinds if kind}


def test_golden_ledger_and_days_are_what_their_description_says(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    for name in ("ledger", "days"):
        shutil.copy(GOLDEN / name, tmp_path / "v1" / name)
    said = json.loads((GOLDEN / "ledger.json").read_text())

    def some(kinds: Iterable[tuple[str, tuple[int, ...]]]) -> dict[str, dict[str, int]]:
        return {kind: {str(i): n for i, n in enumerate(counters) if n} for kind, counters in kinds if kind}

    ledger = reader.read_ledger(tmp_path)
    assert ledger is not None
    assert ledger.total() == (said["bytes"], said["entries"])
    assert some(ledger.kinds) == said["kinds"]
    assert {str(day): some(kinds.items()) for day, kinds in reader.read_days(tmp_path).items()} == said["days"]


def test_last_place_of_the_ledger_counts_kinds_beyond_fifteen(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    kinds = [f"kind-{n}" for n in range(20)]
    with jitcache.Cache(root, memory_size=0) as cache:
        for n, kind in enumerate(kinds):
            assert cache.put(jitcache.Key(n=n), b"", kind=kind)
    ledger = reader.read_ledger(root)
    assert ledger is not None
    assert [name for name, _ in ledger.kinds[:15]] == kinds[:15]
    assert [ledger.count(kind, PUTS) for kind in kinds[:15]] == [1] * 15
    assert ledger.kinds[15][1][PUTS] == 5


def test_names_table_has_the_last_two_keys_of_a_name(healthy: Healthy) -> None:
    root, stored = healthy
    for name in NAMES[1:]:
        of_name = [s for s in stored if s.key.name == name]
        named = reader.read_name(root, name)
        assert named is not None
        assert named.before is not None
        for sealed, noted, s in (
            (named.last, named.last_time, of_name[-1]),
            (named.before, named.before_time, of_name[-2]),
        ):
            assert (sealed.key, sealed.name, sealed.kind, sealed.inputs) == (s.id, name, s.kind, ())
            assert {label: short.hex() for label, short in sealed.components.items()} == s.key.components
            assert noted == reader.read_entry(root, s.id).created
        assert named.written == named.last_time


def test_name_stored_once_has_nothing_before_it(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    key = jitcache.Key(a=1).named("once")
    with jitcache.Cache(root) as cache:
        for _ in range(2):
            assert cache.put(key, b"data", replace=True)
    named = reader.read_name(root, "once")
    assert named is not None
    assert (named.last.key.hex(), named.before) == (key.hex, None)
    assert reader.read_name(root, "never") is None


def sealed_of(key: jitcache.Key) -> bytes:
    """Return the sealed form of a key, as pickle has it."""
    (sealed,) = key.__reduce__()[1]
    assert pickle.loads(pickle.dumps(key)).__reduce__()[1] == (sealed,)
    return sealed


def test_pickled_keys_are_sealed_keys(healthy: Healthy) -> None:
    for s in healthy[1]:
        sealed = reader.read_sealed(sealed_of(s.key))
        assert (sealed.key, sealed.name, sealed.kind, sealed.inputs) == (s.id, s.key.name, "generic", ())
        assert {label: short.hex() for label, short in sealed.components.items()} == s.key.components
        assert sealed_of(s.key) == writer.seal(writer.components_of(s.values), name=s.key.name)


def test_sealed_key_without_components_is_the_digest() -> None:
    key = jitcache.Key.from_hex("ab" * 32).named("given")
    assert sealed_of(key) == writer.seal([], key=b"\xab" * 32, name="given")


def test_sealed_key_remembers_its_inputs(tmp_path: Path) -> None:
    source, tool = tmp_path / "größe.cu", tmp_path / "tool"
    source.write_bytes(b"content")
    tool.write_bytes(b"#!/bin/sh\n")
    key = jitcache.Key(source=jitcache.File(source), tool=jitcache.Tool(tool), n=1)
    sealed = reader.read_sealed(sealed_of(key))
    values = {"source": writer.Content(b"content"), "tool": writer.Program(b"#!/bin/sh\n"), "n": 1}
    components = {c.label: c for c in writer.components_of(values)}
    assert sealed.key == reader.key_of(components.values()) == bytes.fromhex(key.hex)
    assert [i.path for i in sealed.inputs] == [os.fsencode(source), os.fsencode(tool)]
    for i, label in zip(sealed.inputs, (b"source", b"tool")):
        st = os.stat(i.path)
        assert (i.device, i.inode, i.size, i.mtime, i.ctime) == (
            st.st_dev,
            st.st_ino,
            st.st_size,
            st.st_mtime_ns,
            st.st_ctime_ns,
        )
        assert i.tag == components[label].tag
        assert i.digest == reader.digest(components[label].value)
        assert 0 <= i.opened - st.st_ctime_ns < 60 * 10**9
    assert sealed_of(key) == writer.seal(components.values(), inputs=sealed.inputs)


def test_layout_is_that_of_the_document(healthy: Healthy) -> None:
    root, _ = healthy
    assert (root / "v1" / "VERSION").read_bytes() == b"jitcache 1\n"
    assert (root / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert (root / "README.txt").is_file()
    assert {p.name for p in (root / "v1").iterdir()} == {
        "VERSION",
        "config",
        "ledger",
        "days",
        "entries",
        "names",
        "locks",
        "open",
        "tmp",
    }
    assert list((root / "v1" / "tmp").iterdir()) == []


def run_reader(root: Path) -> tuple[int, list[str]]:
    p = subprocess.run(
        [sys.executable, str(READER), str(root)],
        check=False,
        capture_output=True,
        text=True,
        errors="surrogateescape",
    )
    assert p.stderr == ""
    return p.returncode, p.stdout.splitlines()


def test_reader_as_a_program_finds_nothing_wrong(healthy: Healthy) -> None:
    root, stored = healthy
    status, lines = run_reader(root)
    assert status == 0
    assert len(lines) == len(stored) + 2
    ledger, directory = (line.partition(":")[2].strip() for line in lines[-2:])
    assert directory == f"{ledger}; 0 bad"


def test_reader_as_a_program_lists_verdicts_and_totals(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    good, bad = jitcache.Key(good=True).named("good name"), jitcache.Key(good=False)
    with jitcache.Cache(root, memory_size=0) as cache:
        assert cache.put(good, b"data", kind="cubin")
        assert cache.put(bad, b"data")
    status, lines = run_reader(root)
    assert status == 0
    assert sorted(line.split()[1] for line in lines[:2]) == ["good", "good"]
    with open(reader.entry_path(root, bytes.fromhex(bad.hex)), "r+b") as f:
        f.truncate(3)
    status, lines = run_reader(root)
    assert status == 1
    by_key = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
    assert by_key[bad.hex] == "truncated"
    assert by_key[good.hex].split() == ["good", "cubin", "4", "good", "name"]
    assert lines[2].startswith("ledger:    2 entries, ")
    assert lines[3].startswith("directory: 2 entries, ")
    assert lines[3].endswith("; 1 bad")
