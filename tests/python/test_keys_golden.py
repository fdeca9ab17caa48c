"""jitcache.Key against vectors that docs/format.md alone has made (tests/golden/make_keys.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jitcache
import pytest
from format import reader, writer

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
VECTORS: list[dict[str, Any]] = json.loads((GOLDEN / "keys.json").read_text())
by_name = pytest.mark.parametrize("vector", VECTORS, ids=[v["name"] for v in VECTORS])


def values_of(vector: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the values of a vector; the files among them are written into the folder."""

    def file(content: bytes) -> Path:
        path = folder / f"file {len(list(folder.iterdir()))}"
        path.write_bytes(content)
        return path

    names = {"Content": lambda b: jitcache.File(file(b)), "Program": lambda b: jitcache.Tool(file(b))}
    return {c["label"]: eval(c["python"], names) for c in vector["components"]}


def packed_of(vector: dict[str, Any]) -> bytes:
    components = []
    for c in vector["components"]:
        value = c["value"]
        data = bytes.fromhex(value) if isinstance(value, str) else bytes.fromhex(value["repeat"]) * value["times"]
        components.append(reader.Component(c["label"].encode(), c["tag"].encode(), data))
    return writer.pack(components)


def test_there_are_at_least_forty_vectors() -> None:
    assert len(VECTORS) >= 40


@by_name
def test_key_and_components_are_the_golden_ones(vector: dict[str, Any], tmp_path: Path) -> None:
    if not vector["components"]:  # possible in C; an error in Python
        with pytest.raises(ValueError, match="at least one component"):
            jitcache.Key(values_of(vector, tmp_path))
        return
    key = jitcache.Key(values_of(vector, tmp_path))
    assert key.hex == vector["key"]
    assert key.components == {c["label"]: c["short"] for c in vector["components"]}


@by_name
def test_order_of_components_does_not_matter(vector: dict[str, Any], tmp_path: Path) -> None:
    values = values_of(vector, tmp_path)
    if not values:
        return
    assert jitcache.Key(dict(reversed(values.items()))).hex == vector["key"]


@by_name
def test_golden_bytes_hash_to_the_golden_key(vector: dict[str, Any]) -> None:
    packed = packed_of(vector)
    assert reader.key_of(reader.unpack_components(packed)).hex() == vector["key"]


def test_text_companion_has_the_same_vectors() -> None:
    want = [(packed_of(v).hex() or "-", v["key"]) for v in VECTORS]
    lines = [tuple(line.split()) for line in (GOLDEN / "keys.txt").read_text().splitlines()]
    assert lines == [pair for pair in want if len(pair[0]) <= 16 << 10]
    assert len(lines) >= 40


def test_vectors_are_what_the_script_makes(tmp_path: Path) -> None:
    # A change of the script must not change the keys.
    subprocess.run([sys.executable, str(GOLDEN / "make_keys.py"), str(tmp_path)], check=True)
    for name in ("keys.json", "keys.txt"):
        assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (1, 1.0),
        (0.0, -0.0),
        (1, "1"),
        (None, ""),
        (None, []),
        ("", []),
        ([], {}),
        ([], set()),
        (["ab"], ["a", "b"]),
        ([["a"], "b"], [["a", "b"]]),
        ({"a": {"b": 1}}, {"a": {}, "b": 1}),
        (128, -128),
        (255, -1),
        (b"\x80", -128),
        ([1, 2], {1, 2}),
    ],
    ids=repr,
)
def test_different_values_have_different_keys(one: Any, other: Any) -> None:
    assert jitcache.Key(v=one) != jitcache.Key(v=other)
