"""The cache, with one process and healthy files."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import pickle
import threading
from pathlib import Path

import jitcache
import pytest
from processes import run


@pytest.fixture
def cache(tmp_path: Path) -> jitcache.Cache:
    return jitcache.Cache(tmp_path / "cache")


def key(n: object = 1) -> jitcache.Key:
    return jitcache.Key(n=n)


SIZES = [0, 1, 100, 24 << 10, 64 << 10, (256 << 10) - 500, 256 << 10, 1 << 20]


@pytest.mark.parametrize("memory", [0, "256Mi"])
@pytest.mark.parametrize("size", SIZES)
def test_bytes_come_back_as_they_were(tmp_path: Path, size: int, memory: object) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=memory)
    data = os.urandom(size)
    assert cache.get(key()) is None
    assert cache.put(key(), data)
    for c in (cache, jitcache.Cache(tmp_path / "cache", memory_size=memory)):
        for _ in range(3):
            assert c.get(key()) == data
            assert c.view(key()) == data
            with c.entry(key()) as entry:
                assert bytes(entry) == data
                assert len(entry) == entry.size == size


def test_default_is_returned_for_a_miss(cache: jitcache.Cache) -> None:
    assert cache.get(key(), b"other") == b"other"
    assert cache.view(key(), 7) == 7
    assert cache.entry(key()) is None
    assert cache.last_miss == "absent"


def test_an_entry_is_kept_unless_replaced(cache: jitcache.Cache) -> None:
    assert cache.put(key(), b"first")
    assert cache.put(key(), b"second")
    assert cache.get(key()) == b"first"
    assert cache.put(key(), b"second", replace=True)
    assert cache.get(key()) == b"second"
    assert cache.view(key()) == b"second"


@pytest.mark.parametrize("data", [bytearray(b"abc"), memoryview(b"abc"), b"abc"])
def test_anything_with_bytes_can_be_put(cache: jitcache.Cache, data: object) -> None:
    assert cache.put(key(), data)
    assert cache.get(key()) == b"abc"


@pytest.mark.parametrize("data", ["abc", 7, None])
def test_what_has_no_bytes_is_a_type_error(cache: jitcache.Cache, data: object) -> None:
    with pytest.raises(TypeError):
        cache.put(key(), data)


def test_entry_says_what_it_is(cache: jitcache.Cache) -> None:
    named = key().named("saxpy é")
    cache.put(named, b"code", attributes={"lowered": {"f": "_Z1f"}, "n": 1}, kind="cubin")
    entry = cache.entry(key())
    assert entry.attributes == {"lowered": {"f": "_Z1f"}, "n": 1}
    assert (entry.kind, entry.name, entry.size) == ("cubin", "saxpy é", 4)
    assert entry.address % 64 == 0
    assert ctypes.string_at(entry.address) == b"code"  # a NUL follows
    with open(entry.path, "rb") as f:
        assert f.read() == b"code"
    path = entry.path
    entry.close()
    entry.close()
    assert not os.path.exists(path)
    for attribute in ("view", "address", "size", "path", "attributes", "kind", "name"):
        with pytest.raises(ValueError, match="closed"):
            getattr(entry, attribute)


def test_a_view_outlives_everything(cache: jitcache.Cache) -> None:
    cache.put(key(), b"0123456789" * 1000)
    view = cache.view(key())
    entry = cache.entry(key())
    part = entry.view[5:15]
    entry.close()
    cache.clear()
    cache.close()
    del cache, entry
    gc.collect()
    for i in range(50):  # freed memory would be used again
        bytearray(10_000 + i)
    assert bytes(view) == b"0123456789" * 1000
    assert bytes(part) == b"5678901234"


def test_a_view_cannot_be_written_to(cache: jitcache.Cache) -> None:
    cache.put(key(), b"abc")
    for view in (cache.view(key()), cache.entry(key()).view):
        assert view.readonly
        assert view.format == "B"
        with pytest.raises(TypeError):
            view[0] = 1


def test_removed_is_gone_everywhere(cache: jitcache.Cache) -> None:
    cache.put(key(), b"x")
    assert cache.view(key()) == b"x"  # kept for the next time
    assert cache.remove(key())
    assert not cache.remove(key())
    assert cache.get(key()) is None
    assert cache.view(key()) is None


def test_clear_by_kind(cache: jitcache.Cache) -> None:
    for n in range(6):
        cache.put(key(n), b"x", kind=["cubin", "native"][n % 2])
        cache.view(key(n))
    assert len(cache) == 6
    cache.clear("cubin")
    assert [cache.get(key(n)) is not None for n in range(6)] == [False, True] * 3
    cache.clear()
    assert len(cache) == 0
    assert cache  # an empty cache is a cache
    assert cache.get(key(1)) is None


def test_cap_is_kept(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", max_size=5000, memory_size=0)
    for n in range(5):
        assert cache.put(key(n), bytes(2000))
    assert [cache.get(key(n)) is not None for n in range(5)] == [False, False, False, True, True]
    assert not cache.put(key(9), bytes(6000))
    assert cache.last_reason == "too large"
    assert jitcache.Cache(tmp_path / "cache").stats()["max_size"] == 5000


def test_readonly_stores_nothing(tmp_path: Path) -> None:
    jitcache.Cache(tmp_path / "cache").put(key(1), b"x")
    cache = jitcache.Cache(tmp_path / "cache", readonly=True)
    assert cache.get(key(1)) == b"x"
    assert not cache.put(key(2), b"y")
    assert cache.last_reason == "read-only"


def test_last_reason_is_that_of_the_last_store(tmp_path: Path) -> None:
    """A miss that was compiled and stored has no reason."""
    cache = jitcache.Cache(tmp_path / "cache", max_size="1Mi")
    key = jitcache.Key(a=1)
    assert cache.last_reason == ""
    assert cache.get_or_compile(key, lambda: b"x") == b"x"
    assert (cache.last_miss, cache.last_reason) == ("absent", "")
    assert not cache.put(jitcache.Key(a=2), bytes(2 << 20))
    assert cache.last_reason == "too large"
    assert cache.get(key) == b"x" and cache.last_reason == "too large"
    assert cache.put(jitcache.Key(a=3), b"y") and cache.last_reason == ""
    cache.close()
    assert cache.get_or_compile(jitcache.Key(a=4), lambda: b"z") == b"z"
    assert cache.last_reason == "closed"


def test_attributes_must_be_json(cache: jitcache.Cache) -> None:
    with pytest.raises(TypeError):
        cache.put(key(), b"x", attributes={"a": object()})
    assert cache.get(key()) is None


@pytest.mark.parametrize("kind", ["", "x" * 17, "Upper", "with blank"])
def test_bad_kind_is_an_error(cache: jitcache.Cache, kind: str) -> None:
    with pytest.raises((ValueError, jitcache.Error)):
        cache.put(key(), b"x", kind=kind)


@pytest.mark.parametrize("bad", [{"max_size": "much"}, {"memory_size": -1}])
def test_bad_argument_is_an_error(tmp_path: Path, bad: dict[str, object]) -> None:
    with pytest.raises(jitcache.Error, match=next(iter(bad))):
        jitcache.Cache(tmp_path / "cache", **bad)


def test_counters(cache: jitcache.Cache) -> None:
    cache.get(key(1))
    cache.put(key(1), b"x", kind="cubin")
    for _ in range(10):
        cache.get(key(1))
    for _ in range(5):
        cache.view(key(1))
    cache.get_or_compile(key(2), lambda: b"y", kind="native")
    stats = cache.stats()
    assert stats["kinds"]["cubin"]["hits_memory"] == 15
    assert stats["kinds"]["generic"]["misses"] == 1
    assert stats["kinds"]["native"]["compiles"] == 1
    assert stats["total"]["puts"] == 2
    assert stats["entries"] == 2


@pytest.mark.parametrize("memory", [0, "256Mi"])
def test_miss_counts_for_the_kind_that_was_asked_for(tmp_path: Path, memory: object) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=memory)
    assert cache.get(key(), b"other", kind="cubin") == b"other"
    cache.put(key(), b"x", kind="native")
    assert cache.get(key(), kind="cubin") == b"x"
    kinds = cache.stats()["kinds"]
    assert kinds["cubin"]["misses"] == 1
    assert kinds["native"]["hits_memory"] + kinds["native"]["hits_disk"] == 1
    assert "generic" not in kinds
    with pytest.raises(jitcache.Error, match="Cubin"):
        cache.get(key(2), kind="Cubin")


def test_compile_without_a_lease_is_timed(cache: jitcache.Cache) -> None:
    assert cache.put(key(), b"x", kind="cubin", seconds=2.5)
    assert cache.put(key(2), b"x", kind="cubin", replace=True, seconds=-1)
    assert cache.get(key()) == b"x"
    cubin = cache.stats()["kinds"]["cubin"]
    assert (cubin["compiles"], cubin["compile_seconds"], cubin["saved_seconds"]) == (2, 2.5, 2.5)


def test_every_hit_is_counted_once(tmp_path: Path) -> None:
    """Hits that are served from the table in Python are reported, whoever looks and whenever."""
    cache = jitcache.Cache(tmp_path / "cache")
    for n in range(20):
        cache.put(key(n), b"x")
    keys = [key(n) for n in range(20)]

    def look() -> None:
        for i in range(3000):
            cache.view(keys[i % 20])
            if i % 500 == 0:
                cache.stats()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert cache.stats()["total"]["hits_memory"] == 12_000
    cache.close()
    assert jitcache.Cache(tmp_path / "cache").stats()["total"]["hits_memory"] == 12_000


def test_the_table_in_python_follows_the_tier_in_memory(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=100_000)
    for n in range(50):
        cache.put(key(n), bytes([n]) * 10_000)
        assert cache.view(key(n)) == bytes([n]) * 10_000
    assert cache.stats()["memory"]["bytes"] <= 100_000
    for n in range(50):
        assert cache.view(key(n)) == bytes([n]) * 10_000


def test_closed_cache_misses(cache: jitcache.Cache) -> None:
    cache.put(key(), b"x")
    cache.close()
    cache.close()
    assert cache.get(key()) is None
    assert cache.view(key()) is None
    assert cache.last_miss == "closed"
    assert not cache.put(key(), b"x")
    assert cache.get_or_compile(key(), lambda: b"y") == b"y"
    assert len(cache) == 0
    assert "closed" in repr(cache)


def test_default_cache_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITCACHE_DIR", str(tmp_path / "here"))
    cache = jitcache.default_cache()
    assert cache is jitcache.default_cache()
    assert cache.stats()["directory"] == str(tmp_path / "here")


def test_entries_are_those_of_a_kind(cache: jitcache.Cache) -> None:
    cache.put(key(1).named("one"), b"x" * 10, kind="cubin", attributes={"arch": "sm_90"})
    cache.put(key(2), b"y", kind="native")
    (one,) = cache.entries("cubin")
    assert (one["key"], one["kind"], one["name"], one["size"]) == (key(1).hex, "cubin", "one", 10)
    assert one["attributes"] == {"arch": "sm_90"}
    assert Path(one["path"]).read_bytes().startswith(b"x" * 10)
    assert cache.get(jitcache.Key.from_hex(one["key"])) == b"x" * 10
    assert "attributes" not in next(cache.entries("native"))
    assert {e["key"] for e in cache.entries()} == {key(1).hex, key(2).hex}
    assert (cache.count(), cache.count("cubin"), cache.count("none")) == (2, 1, 0)
    assert list(cache.entries("none")) == []


def test_entries_come_in_the_order_of_their_keys_as_they_are_asked_for(cache: jitcache.Cache) -> None:
    for n in range(50):
        cache.put(key(n), b"x")
    want = sorted(key(n).hex for n in range(50))
    assert [e["key"] for e in cache.entries()] == want
    entries = cache.entries()
    assert next(entries)["key"] == want[0]
    cache.remove(jitcache.Key.from_hex(want[-1]))
    assert [e["key"] for e in entries] == want[1:-1]


def test_entries_end_with_their_cache(cache: jitcache.Cache) -> None:
    for n in range(2):
        cache.put(key(n), b"x")
    entries = cache.entries()
    next(entries)
    cache.close()
    with pytest.raises(jitcache.Error, match="cache"):
        next(entries)
    assert list(cache.entries()) == []


def test_what_is_damaged_is_not_listed(cache: jitcache.Cache) -> None:
    for n in range(2):
        cache.put(key(n), b"x")
    path = Path(next(cache.entries())["path"])
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-40] + bytes(40))
    assert cache.count("generic") == 1


def test_explain_names_what_changed(cache: jitcache.Cache) -> None:
    cache.put(jitcache.Key(source="a", arch="sm_80", old=1).named("k"), b"x")
    e = cache.explain(jitcache.Key(source="b", arch="sm_80", new=1).named("k"))
    assert (e["hit"], e["reason"], e["changed"], e["added"], e["removed"]) == (
        False,
        "absent",
        ["source"],
        ["new"],
        ["old"],
    )
    assert cache.explain(jitcache.Key(source="a", arch="sm_80", old=1).named("k"))["hit"]


def test_many_threads_see_whole_entries(cache: jitcache.Cache) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        for i in range(200):
            n = (i * 7 + seed) % 20
            want = bytes([n]) * (1000 + n)
            got = cache.get(key(n)) if i % 2 else cache.view(key(n))
            if got is not None and got != want:
                wrong.append((n, len(got)))
            if got is None or i % 10 == 0:
                cache.put(key(n), want, replace=True)

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_lookup_inside_a_lookup_disturbs_nothing(cache: jitcache.Cache) -> None:
    """A destructor or signal handler may look something up between a call and its results."""
    cache = jitcache.Cache(cache.stats()["directory"], memory_size=0)
    for n in range(2):
        cache.put(key(n), bytes([n]) * (1000 + n))

    class Nested:
        def __eq__(self, other: object) -> bool:
            return False

        def __del__(self) -> None:
            assert cache.get(key(1)) == b"\x01" * 1001

    for _ in range(200):
        nested = Nested()
        cycle = [nested]
        cycle.append(cycle)
        del nested, cycle
        assert cache.get(key(0)) == b"\x00" * 1000
    gc.collect()


def test_no_handle_is_left(tmp_path: Path) -> None:
    """A million lookups must not grow the process; a few thousand show a leak per lookup."""
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0)
    cache.put(key(1), bytes(50_000))

    def rss() -> int:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096

    for _ in range(300):
        cache.entry(key(1)).view
        cache.get(key(1))
    gc.collect()
    before = rss()
    for _ in range(3000):
        cache.entry(key(1)).view
        cache.get(key(1))
    gc.collect()
    assert rss() - before < 10 << 20


def test_pickled_key_is_the_same(cache: jitcache.Cache) -> None:
    k = jitcache.Key(source="x", f=jitcache.File(__file__)).named("n")
    cache.put(k, b"x")
    again = pickle.loads(pickle.dumps(k))
    assert again == k
    assert hash(again) == hash(k)
    assert again.name == "n"
    assert again.components == k.components
    assert cache.get(again) == b"x"


# An object that a module of Python's own refers to is freed when the other modules are empty.
LATE = """
    import ctypes, sys, jitcache
    class Late: pass
    cache, key = jitcache.Cache(sys.argv[1]), jitcache.Key(n=1)
    cache.put(key, b"1")
    late = ctypes.late = Late()
    late.all = [cache, cache.entry(key), cache.view(key), cache.acquire(jitcache.Key(n=2)), key]
    late.detached = jitcache.Cache(sys.argv[1], readonly=True).entry_or_compile(jitcache.Key(n=3), lambda: b"1")
    late.path = late.detached.path
"""


def test_what_is_freed_after_the_modules_ends_in_silence_and_is_counted(tmp_path: Path) -> None:
    p = run(LATE, tmp_path / "cache")
    assert (p.returncode, p.stdout, p.stderr) == (0, "", "")
    with jitcache.Cache(tmp_path / "cache") as cache:
        assert cache.stats()["total"]["puts"] == 1


def test_compile_has_an_older_name(cache: jitcache.Cache) -> None:
    for n, ask in enumerate((cache.get_or_compile, cache.entry_or_compile)):
        for name in ("compile", "fn"):
            key = jitcache.Key(n=n, name=name)
            ask(key, **{name: lambda: b"code"})
            assert cache.get(key) == b"code"
            with pytest.raises(TypeError, match="two names of one argument"):
                ask(key, compile=bytes, fn=bytes)
            with pytest.raises(TypeError, match="missing the argument 'compile'"):
                ask(key)


def test_compile_of_a_coroutine_has_an_older_name(cache: jitcache.Cache) -> None:
    async def made() -> bytes:
        return b"code"

    for name in ("compile", "fn"):
        assert asyncio.run(cache.aget_or_compile(jitcache.Key(name=name), **{name: made})) == b"code"
    with pytest.raises(TypeError, match="missing the argument 'compile'"):
        asyncio.run(cache.aget_or_compile(jitcache.Key(a=1)))
