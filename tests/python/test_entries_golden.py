"""Golden entries: files written by docs/format.md alone (tests/golden/make_entries.py) are hits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jitcache
import pytest
from format import reader

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
INDEX: dict[str, dict[str, Any]] = json.loads((GOLDEN / "entries" / "index.json").read_text())
by_name = pytest.mark.parametrize("name", sorted(INDEX))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a cache directory that holds all golden entries."""
    root = tmp_path / "cache"
    jitcache.Cache(root).close()
    for name, want in INDEX.items():
        path = reader.entry_path(root, bytes.fromhex(want["key"]))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((GOLDEN / "entries" / f"{name}.jce").read_bytes())
        path.chmod(0o600)
    return root


def test_there_are_eight_small_files() -> None:
    files = list((GOLDEN / "entries").glob("*.jce"))
    assert sorted(f.stem for f in files) == sorted(INDEX)
    assert len(files) >= 8
    assert max(f.stat().st_size for f in files) < 2048


@by_name
@pytest.mark.parametrize("memory", [0, None], ids=["disk", "memory"])
def test_golden_entry_is_a_hit(root: Path, name: str, memory: int | None) -> None:
    want = INDEX[name]
    key = jitcache.Key.from_hex(want["key"])
    with jitcache.Cache(root, memory_size=memory) as cache:
        for _ in range(2):
            assert cache.get(key) == bytes.fromhex(want["payload"])
            with cache.entry(key) as entry:
                assert bytes(entry.view) == bytes.fromhex(want["payload"])
                assert (entry.kind, entry.name) == (want["kind"], want["name"])
                assert entry.attributes == json.loads(want["attributes"] or "{}")


@by_name
def test_golden_entry_is_listed_with_components_and_times(root: Path, name: str) -> None:
    want = INDEX[name]
    python = {"PYTHONPATH": os.pathsep.join(sys.path), "JITCACHE_DIR": str(root)}
    shown = subprocess.run(
        [sys.executable, "-m", "jitcache", "show", "-json", want["key"]],
        env={**os.environ, **python, "TZ": "UTC"},
        check=True,
        capture_output=True,
        text=True,
    )
    entry = json.loads(shown.stdout)
    assert entry.get("components", {}) == want["components"]
    assert entry["compile_seconds"] == want["cost"] / 1e9
    seconds, fraction = divmod(want["created"], 10**9)
    assert entry["created"].startswith("1969-12-31T23:59:59" if seconds < 0 else "2026-01-01T12:00:00")
    assert f"{fraction:09}".rstrip("0") in entry["created"]


def test_verify_finds_nothing_wrong(root: Path) -> None:
    with jitcache.Cache(root) as cache:
        report = cache.verify()
    assert (report["entries"], report["bad"]) == (len(INDEX), [])


@by_name
def test_independent_reader_agrees(root: Path, name: str) -> None:
    want = INDEX[name]
    entry = reader.read_entry(root, bytes.fromhex(want["key"]))
    assert {
        "key": entry.key.hex(),
        "payload": entry.payload.hex(),
        "kind": entry.kind,
        "name": entry.name,
        "attributes": entry.attributes.decode(),
        "created": entry.created,
        "cost": entry.cost,
        "components": {label: short.hex() for label, short in entry.components.items()},
    } == want


def test_files_are_what_the_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(GOLDEN / "make_entries.py"), str(tmp_path)], check=True)
    for path in (GOLDEN / "entries").iterdir():
        assert (tmp_path / "entries" / path.name).read_bytes() == path.read_bytes()
