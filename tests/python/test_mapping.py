"""The cache as a mapping, and objects that are no keys."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import jitcache
import pytest


@pytest.fixture(params=["tier", "disk", "closed"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> jitcache.Cache:
    cache = jitcache.Cache(tmp_path / "cache", memory_size=0 if request.param == "disk" else None)
    if request.param == "closed":
        cache.close()
    return cache


@pytest.mark.parametrize("bad", ["saxpy", b"saxpy", 1, None, ("a", 1), {"a": 1}])
def test_what_is_no_key_is_a_type_error_that_says_what_was_wanted(cache: jitcache.Cache, bad: Any) -> None:
    calls = {
        "get": lambda: cache.get(bad),
        "view": lambda: cache.view(bad),
        "entry": lambda: cache.entry(bad),
        "put": lambda: cache.put(bad, b""),
        "acquire": lambda: cache.acquire(bad),
        "get_or_compile": lambda: cache.get_or_compile(bad, bytes),
        "entry_or_compile": lambda: cache.entry_or_compile(bad, bytes),
        "remove": lambda: cache.remove(bad),
        "explain": lambda: cache.explain(bad),
        "in": lambda: bad in cache,
        "[]": lambda: cache[bad],
        "aget_or_compile": lambda: cache.aget_or_compile(bad, bytes).send(None),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=rf"want a jitcache\.Key, not {type(bad).__name__}"):
            call()
        assert name


def test_mapping(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    keys = [jitcache.Key(n=n).named(f"entry {n}") for n in range(5)]
    for n, key in enumerate(keys):
        assert key not in cache
        cache.put(key, b"%d" % n)
    assert len(cache) == 5
    assert all(key in cache for key in keys)
    assert set(cache) == set(keys)
    assert sorted(key.name for key in cache) == [f"entry {n}" for n in range(5)]
    assert sorted(cache[key] for key in cache) == [b"0", b"1", b"2", b"3", b"4"]
    with pytest.raises(KeyError):
        cache[jitcache.Key(n=7)]
    assert bool(jitcache.Cache(tmp_path / "empty")) is True


def test_entry_of_no_bytes_is_one(tmp_path: Path) -> None:
    cache, key = jitcache.Cache(tmp_path / "cache"), jitcache.Key(n=1)
    cache.put(key, b"")
    kept, detached = cache.entry(key), jitcache.Cache(tmp_path, readonly=True).entry_or_compile(key, bytes)
    for entry in (kept, detached):
        assert entry
        assert len(entry) == 0


def test_cache_is_not_pickled_or_copied(cache: jitcache.Cache) -> None:
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a Cache cannot be pickled: open it in each process"):
            call(cache)


def test_in_counts_nothing(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    cache.put(jitcache.Key(n=1), b"")
    before = cache.stats()["total"]
    assert jitcache.Key(n=1) in cache
    assert jitcache.Key(n=2) not in cache
    after = cache.stats()["total"]
    for count in ("hits_memory", "hits_disk", "misses"):
        assert after[count] == before[count]


def test_key_without_components_is_an_error() -> None:
    for make in (lambda: jitcache.Key(), lambda: jitcache.Key({})):
        with pytest.raises(ValueError, match="at least one component"):
            make()
