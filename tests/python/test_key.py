"""Keys: what counts, what does not, and what is refused."""

from __future__ import annotations

import decimal
import os
from pathlib import Path

import jitcache
import pytest
from jitcache import _library


def test_order_does_not_count() -> None:
    assert jitcache.Key(a=1, b=2) == jitcache.Key(b=2, a=1)
    assert jitcache.Key(d={"x": 1, "y": 2}) == jitcache.Key(d={"y": 2, "x": 1})
    assert jitcache.Key(s={"x", "y", "z"}) == jitcache.Key(s={"z", "y", "x"})
    assert jitcache.Key(o=["-a", "-b"]) != jitcache.Key(o=["-b", "-a"])


def test_every_kind_of_value_is_a_key_of_its_own() -> None:
    values = [
        None,
        True,
        False,
        0,
        1,
        -1,
        256,
        0.0,
        -0.0,
        1.0,
        "",
        "0",
        "1",
        b"\x01",
        [],
        [1],
        [[1]],
        {},
        {"a": 1},
        set(),
        {1},
        [None],
        ["1"],
        float("inf"),
    ]
    keys = {}
    for v in values:
        k = jitcache.Key(v=v)
        assert k not in keys, (v, keys.get(k))
        keys[k] = v


def test_what_is_the_same_counts_as_the_same() -> None:
    assert jitcache.Key(v="é") == jitcache.Key(v="é".encode())
    assert jitcache.Key(v=b"x") == jitcache.Key(v=bytearray(b"x")) == jitcache.Key(v=memoryview(b"x"))
    assert jitcache.Key(v=[1, 2]) == jitcache.Key(v=(1, 2))
    assert jitcache.Key(v=float("nan")) == jitcache.Key(v=-float("nan"))
    assert jitcache.Key(v={1}) == jitcache.Key(v=frozenset({1}))
    assert jitcache.Key({"v": 1}) == jitcache.Key(v=1)


@pytest.mark.parametrize(
    "value",
    [Path("x"), object(), decimal.Decimal(1), 1j, range(3), [Path("x")], {"a": object()}, {1: 2}, len],
    ids=lambda v: type(v).__name__,
)
def test_what_cannot_be_keyed_is_a_type_error_that_names_the_label(value: object) -> None:
    with pytest.raises(TypeError, match="'the label'"):
        jitcache.Key({"the label": value})


@pytest.mark.parametrize("library", [True, False])
@pytest.mark.parametrize(
    "value", ["a\ud800", ["\udfff"], {"\ud800": 1}, {"a": {"\ud800"}}], ids=["text", "list", "dict", "deep"]
)
def test_text_that_is_no_utf_8_is_a_type_error_that_names_the_label(
    value: object, library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not library:
        monkeypatch.setattr(_library, "load", lambda: None)
    with pytest.raises(TypeError, match=r"'the label'.*'\\ud"):
        jitcache.Key({"the label": value})


@pytest.mark.parametrize("library", [True, False])
def test_label_or_name_that_is_no_utf_8_is_named(library: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not library:
        monkeypatch.setattr(_library, "load", lambda: None)
    for value in (1, jitcache.File(__file__)):
        with pytest.raises(ValueError, match=r"component label 'l\\ud800'"):
            jitcache.Key({"l\ud800": value})
    with pytest.raises(ValueError, match=r"key name 'n\\ud800'"):
        jitcache.Key(a=1).named("n\ud800")


def test_what_was_text_of_the_system_is_text() -> None:
    """As in names that os.fsdecode returns for bytes that are not UTF-8."""
    assert jitcache.Key(v="\udcff") == jitcache.Key(v=b"\xff")


def test_label_used_twice_is_an_error() -> None:
    with pytest.raises(TypeError, match="'a'"):
        jitcache.Key({"a": 1}, a=2)


@pytest.mark.parametrize("label", ["", "x" * 1025])
def test_bad_label_is_an_error(label: str) -> None:
    with pytest.raises(ValueError, match="label"):
        jitcache.Key({label: 1})


def test_name_does_not_count() -> None:
    k = jitcache.Key(a=1)
    assert k.named("x") == k
    assert k.named("x").named("y").name == "y"
    assert k.name == ""
    assert "x" in repr(k.named("x"))
    for bad in ("x" * 1025, "a\0b"):
        with pytest.raises(ValueError, match="name"):
            k.named(bad)


def test_components_are_short_digests_by_label() -> None:
    a, b = jitcache.Key(x=1, y=2).components, jitcache.Key(x=1, y=3).components
    assert list(a) == ["x", "y"]
    assert a["x"] == b["x"]
    assert a["y"] != b["y"]
    assert all(len(v) == 16 for v in a.values())


def test_hex_there_and_back() -> None:
    k = jitcache.Key(a=1)
    assert len(k.hex) == 64
    assert jitcache.Key.from_hex(k.hex) == k
    assert jitcache.Key.from_hex(k.hex.upper()) == k
    assert jitcache.Key.from_hex(k.hex).components == {}
    for bad in ("", "ab", "g" * 64, k.hex + "0"):
        with pytest.raises(ValueError, match="hex"):
            jitcache.Key.from_hex(bad)


def test_file_counts_by_content_and_not_by_path(tmp_path: Path) -> None:
    for name, text in (("a", "same"), ("b", "same"), ("c", "other")):
        (tmp_path / name).write_text(text)
    a, b, c = (jitcache.Key(f=jitcache.File(tmp_path / n)) for n in "abc")
    assert a == b != c
    assert a != jitcache.Key(f="same")
    assert a != jitcache.Key(f=jitcache.Tool(tmp_path / "a"))


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        jitcache.Key(f=jitcache.File(tmp_path / "missing"))
    with pytest.raises(jitcache.Error):
        jitcache.Key(f=jitcache.File(tmp_path))


def test_relative_file_is_found_again_after_chdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "header.h").write_text("x")
    monkeypatch.chdir(tmp_path)
    k = jitcache.Key(f=jitcache.File("header.h"))
    monkeypatch.chdir("/")
    cache = jitcache.Cache(tmp_path / "cache")
    assert cache.put(k, b"code")


@pytest.mark.control("noinputs")
def test_result_of_a_file_that_changed_is_handed_back_and_not_stored(tmp_path: Path) -> None:
    header = tmp_path / "header.h"
    header.write_text("before")
    cache = jitcache.Cache(tmp_path / "cache")
    k = jitcache.Key(f=jitcache.File(header))

    def compile_and_edit() -> bytes:
        header.write_text("edited")
        return b"code"

    assert cache.get_or_compile(k, compile_and_edit) == b"code"
    assert cache.last_reason == "input changed"
    assert cache.get(k) is None
    assert jitcache.Cache(tmp_path / "cache").get(k) is None


def test_pickled_key_still_knows_its_files(tmp_path: Path) -> None:
    import pickle

    header = tmp_path / "header.h"
    header.write_text("before")
    k = pickle.loads(pickle.dumps(jitcache.Key(f=jitcache.File(header))))
    header.write_text("edited")
    cache = jitcache.Cache(tmp_path / "cache")
    assert not cache.put(k, b"code")
    assert cache.last_reason == "input changed"


def test_tool_is_known_by_what_it_is(tmp_path: Path) -> None:
    sh = os.path.realpath("/bin/sh")
    copy = tmp_path / "copy"
    copy.write_bytes(Path(sh).read_bytes())
    assert jitcache.Key(t=jitcache.Tool(sh)) == jitcache.Key(t=jitcache.Tool(copy))
