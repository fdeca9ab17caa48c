"""Wrong arguments: each is an error that says what was wanted, and none is taken for something else."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import jitcache
import pytest
from jitcache import mpi, native


@pytest.fixture
def cache(tmp_path: Path) -> jitcache.Cache:
    return jitcache.Cache(tmp_path / "cache")


KEY = jitcache.Key(value=1)


@pytest.mark.parametrize("components", ["text", b"text", 5, ["a"], Path("/")])
def test_components_without_labels_are_refused(components: object) -> None:
    with pytest.raises(TypeError, match="want components with labels"):
        jitcache.Key(components)


@pytest.mark.parametrize("digits", [" " * 64, "ab" * 31 + "  ", " a" * 32, "ab" * 20 + "\t" * 24])
def test_blanks_are_no_digits(digits: str) -> None:
    with pytest.raises(ValueError, match="want 64 hex digits"):
        jitcache.Key.from_hex(digits)


def test_another_type_than_text_is_named(cache: jitcache.Cache) -> None:
    with pytest.raises(TypeError, match="want 64 hex digits as str, not bytes"):
        jitcache.Key.from_hex(b"ab" * 32)
    with pytest.raises(TypeError, match="key name: want str, not int"):
        KEY.named(5)
    with pytest.raises(TypeError, match="kind: want str, not int"):
        cache.put(KEY, b"", kind=5)
    with pytest.raises(TypeError, match="kind: want str, not int"):
        cache.clear(5)
    with pytest.raises(TypeError, match="kind: want str, not int"):
        list(cache.entries(5))


def test_nul_does_not_end_the_name_of_a_directory(tmp_path: Path) -> None:
    with pytest.raises(jitcache.Error, match="directory: has a NUL"):
        jitcache.Cache(f"{tmp_path}/a\0b")
    assert list(tmp_path.iterdir()) == []


def test_nul_does_not_end_a_kind(cache: jitcache.Cache) -> None:
    cache.put(KEY, b"data", kind="mine")
    with pytest.raises(jitcache.Error, match="kind: has a NUL"):
        cache.clear("mine\0and more")
    with pytest.raises(jitcache.Error, match="kind: has a NUL"):
        list(cache.entries("mine\0and more"))
    assert cache.get(KEY) == b"data"


def test_nul_does_not_end_the_label_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    for value in (jitcache.File(file), jitcache.Tool(file)):
        with pytest.raises(ValueError, match="label with a NUL"):
            jitcache.Key({"a\0b": value})
    assert jitcache.Key({"a\0b": "text"}) != jitcache.Key({"a": "text"})


def test_result_that_is_not_bytes_is_named(cache: jitcache.Cache) -> None:
    for data, name in (("text", "str"), (5, "int"), (None, "NoneType"), ([1], "list")):
        with pytest.raises(TypeError, match=f"want bytes, not {name}$"):
            cache.get_or_compile(KEY, lambda data=data: data)


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_coroutine_function_is_for_the_other_method(cache: jitcache.Cache) -> None:
    async def compile_() -> bytes:
        return b""

    with pytest.raises(TypeError, match="want bytes, not coroutine; aget_or_compile takes coroutine functions"):
        cache.get_or_compile(KEY, compile_)


@pytest.mark.parametrize("timeout", [float("inf"), 1e30, 10**30])
def test_timeout_may_be_for_ever(cache: jitcache.Cache, timeout: float) -> None:
    assert cache.get_or_compile(KEY, lambda: b"data", timeout=timeout) == b"data"
    with native.build("int one(void) { return 1;\n}", cache=cache, timeout=timeout) as built:
        assert built.size > 0


def test_what_belongs_to_a_process_is_not_pickled(cache: jitcache.Cache) -> None:
    with cache.acquire(KEY) as lease:
        for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="a Lease cannot be pickled"):
                refuse(lease)
        lease.commit(b"data")
    with lease.entry() as entry:
        for refuse in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="an entry cannot be pickled: pickle its bytes"):
                refuse(entry)
        assert pickle.loads(pickle.dumps(bytes(entry))) == b"data"


@pytest.mark.parametrize("cache", ["a directory", True, 5])
def test_what_is_no_cache_is_refused(cache: object) -> None:
    with pytest.raises(TypeError, match="cache: want a Cache, None or False"):
        native.build("int one;\n", cache=cache)
    with pytest.raises(jitcache.Error, match="cache: want a Cache, None or False"):
        mpi.get_or_compile(None, cache, KEY, lambda: b"")


def test_source_without_a_newline_is_a_path_and_says_so(cache: jitcache.Cache) -> None:
    with pytest.raises(jitcache.Error, match="without a newline is taken for a path"):
        native.build("int one(void) { return 1; }", cache=cache)
