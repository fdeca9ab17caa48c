"""What a program cache of cuda.core's promises, of cuda.core's class and of ours."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from cuda.core import ObjectCode
from cuda.core.utils import ProgramCacheResource

KEY = b"k" * 32
CODE = b"\x7fELF and more \x00\xff" * 100


def later() -> None:
    """Let the clock of the file system go on, by which cuda.core's class tells what was used last."""
    time.sleep(0.02)


def test_it_is_a_program_cache(kind: type, tmp_path: Path) -> None:
    assert isinstance(kind(tmp_path / "c"), ProgramCacheResource)


def test_new_one_is_empty(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    assert len(cache) == 0
    assert cache.get(KEY) is None
    with pytest.raises(KeyError):
        cache[KEY]


@pytest.mark.parametrize("how", [str, Path, lambda p: os.path.relpath(p)])
def test_path_may_be_text_a_path_or_relative(kind: type, tmp_path: Path, how) -> None:
    kind(how(tmp_path / "c"))[KEY] = CODE
    assert kind(tmp_path / "c").get(KEY) == CODE


def test_folders_are_made(kind: type, tmp_path: Path) -> None:
    kind(tmp_path / "a" / "b" / "c")[KEY] = CODE
    assert kind(tmp_path / "a" / "b" / "c")[KEY] == CODE


def test_without_a_path_it_is_the_user_s(kind: type) -> None:
    with kind() as cache:
        cache[KEY] = CODE
    assert kind()[KEY] == CODE


def test_what_is_given_back_is_bytes(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    cache[KEY] = CODE
    assert type(cache[KEY]) is bytes
    assert type(cache.get(KEY)) is bytes


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, ObjectCode.from_cubin])
def test_values_of_all_forms_are_one(kind: type, tmp_path: Path, form) -> None:
    cache = kind(tmp_path / "c")
    cache[KEY] = form(CODE)
    assert cache[KEY] == CODE


def test_object_code_of_a_file_is_what_is_in_the_file(kind: type, tmp_path: Path) -> None:
    path = tmp_path / "code.cubin"
    path.write_bytes(CODE)
    cache = kind(tmp_path / "c")
    cache[KEY] = ObjectCode.from_cubin(str(path))
    path.unlink()
    assert cache[KEY] == CODE


def test_object_code_of_a_file_that_is_gone_is_an_error_that_names_it(kind: type, tmp_path: Path) -> None:
    path = tmp_path / "code.cubin"
    with pytest.raises(FileNotFoundError, match="path-backed ObjectCode") as e:
        kind(tmp_path / "c")[KEY] = ObjectCode.from_cubin(str(path))
    assert str(path) in str(e.value)


@pytest.mark.parametrize("value", [1, None, "text", ["list"], object()])
def test_other_values_are_an_error(kind: type, tmp_path: Path, value: object) -> None:
    with pytest.raises(TypeError, match="bytes-like or ObjectCode"):
        kind(tmp_path / "c")[KEY] = value


@pytest.mark.parametrize("key", [1, None, memoryview(b"k"), ("k",)])
def test_other_keys_are_an_error(kind: type, tmp_path: Path, key: object) -> None:
    cache = kind(tmp_path / "c")
    for use in (
        lambda: cache.get(key),
        lambda: cache[key],
        lambda: cache.__setitem__(key, b""),
        lambda: cache.__delitem__(key),
    ):
        with pytest.raises(TypeError, match="bytes or str"):
            use()


def test_text_and_its_bytes_are_one_key(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    cache["kë"] = b"1"
    assert cache["kë".encode()] == cache.get(bytearray("kë".encode())) == b"1"
    cache[bytearray(b"b")] = b"2"
    assert cache["b"] == b"2"
    assert len(cache) == 2


@pytest.mark.parametrize("key", [b"x" * 4096, "y" * 4096, b"", "", b"\0", b"/../..", "a/b"])
def test_any_bytes_are_a_key(kind: type, tmp_path: Path, key: bytes | str) -> None:
    cache = kind(tmp_path / "c")
    cache[key] = CODE
    assert kind(tmp_path / "c")[key] == CODE
    assert cache.get(b"other") is None


def test_empty_value_is_a_hit(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    cache[KEY] = b""
    assert cache.get(KEY, b"default") == b""


def test_get_returns_its_default(kind: type, tmp_path: Path) -> None:
    assert kind(tmp_path / "c").get("absent", b"default") == b"default"


def test_assignment_replaces(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    for value in (b"first", b"second, longer", b"3"):
        cache[KEY] = value
        assert cache[KEY] == cache.get(KEY) == value
        assert len(cache) == 1
    assert kind(tmp_path / "c")[KEY] == b"3"


def test_delete_removes_and_raises_for_what_is_not_there(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    cache[KEY] = CODE
    assert cache[KEY] == CODE
    del cache[KEY]
    assert cache.get(KEY) is None
    with pytest.raises(KeyError):
        del cache[KEY]


def test_clear_removes_all(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    for i in range(7):
        cache[f"{i}"] = CODE
        assert cache[f"{i}"] == CODE
    assert len(cache) == 7
    cache.clear()
    assert len(cache) == 0
    assert [cache.get(f"{i}") for i in range(7)] == [None] * 7


@pytest.mark.parametrize("items", [{"a": b"1", b"b": b"2"}, [("a", b"1"), (b"b", b"2")]])
def test_update_takes_a_mapping_or_pairs(kind: type, tmp_path: Path, items) -> None:
    cache = kind(tmp_path / "c")
    cache.update(items)
    assert (cache["a"], cache["b"], len(cache)) == (b"1", b"2", 2)


def test_in_and_iteration_are_errors(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    cache[KEY] = CODE
    with pytest.raises(TypeError):
        bool(KEY in cache)
    with pytest.raises(TypeError):
        list(cache)


def test_with_gives_the_cache_which_can_be_used_afterwards(kind: type, tmp_path: Path) -> None:
    with kind(tmp_path / "c") as cache:
        cache[KEY] = CODE
    cache["later"] = CODE
    assert cache[KEY] == cache["later"] == CODE
    cache.close()
    cache.close()
    assert len(cache) == 2


@pytest.mark.parametrize("cap", [0, -1])
def test_cap_has_to_be_positive(kind: type, tmp_path: Path, cap: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        kind(tmp_path / "c", max_size_bytes=cap)


def test_cap_is_a_keyword(kind: type, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        kind(tmp_path / "c", 100)


def test_without_a_cap_all_stay(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    for i in range(20):
        cache[f"{i}"] = CODE
    assert len(cache) == 20


def test_cap_evicts_the_oldest(kind: type, tmp_path: Path) -> None:
    with kind(tmp_path / "c", max_size_bytes=3000) as cache:
        for name in "abc":
            cache[name] = name.encode() * 2000
            later()
    reopened = kind(tmp_path / "c", max_size_bytes=3000)
    assert [reopened.get(name) is not None for name in "abc"] == [False, False, True]


def test_read_keeps_an_entry_from_eviction(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c", max_size_bytes=5000)
    for name in ("a", "b", "read a", "c"):
        if name == "read a":
            assert cache["a"] == b"a" * 2000
        else:
            cache[name] = name.encode() * 2000
        later()
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]


def test_second_read_keeps_an_entry_from_eviction_too(kind: type, tmp_path: Path) -> None:
    """What is read twice is no longer read from disk, by a cache that remembers."""
    cache = kind(tmp_path / "c", max_size_bytes=5000)
    for name in "ab":
        cache[name] = name.encode() * 2000
        later()
    for name in "aba":
        assert cache[name] == name.encode() * 2000
        later()
    cache["c"] = b"c" * 2000
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]


def test_what_is_larger_than_the_cap_does_not_stay(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c", max_size_bytes=1000)
    cache[KEY] = b"x" * 2000
    assert cache.get(KEY) is None
    assert len(cache) == 0


def test_replacing_counts_once_for_the_cap(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c", max_size_bytes=5000)
    cache["a"] = b"a" * 2000
    for i in range(10):
        later()
        cache["b"] = b"%d" % i * 2000
    assert cache["a"] == b"a" * 2000
    assert cache["b"] == b"9" * 2000


def test_two_that_are_open_see_each_other_s_changes_at_once(kind: type, tmp_path: Path) -> None:
    one, other = kind(tmp_path / "c"), kind(tmp_path / "c")
    for value in (b"first", b"secnd", b"third"):
        one[KEY] = value
        assert [other[KEY], other[KEY], one[KEY]] == [value] * 3
    del one[KEY]
    assert other.get(KEY) is None
    one[KEY] = b"fourth"
    assert [other[KEY], other[KEY]] == [b"fourth"] * 2
    one.clear()
    assert other.get(KEY) is None


def test_threads_see_whole_values(kind: type, tmp_path: Path) -> None:
    cache = kind(tmp_path / "c")
    values = [bytes([i]) * 5000 for i in range(4)]
    cache[KEY] = values[0]
    wrong: list[object] = []

    def write(value: bytes) -> None:
        for _ in range(50):
            cache[KEY] = value

    def read() -> None:
        for _ in range(200):
            if cache.get(KEY) not in values:
                wrong.append(cache.get(KEY))

    threads = [threading.Thread(target=write, args=(v,)) for v in values]
    threads += [threading.Thread(target=read) for _ in values]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
    assert cache[KEY] in values
