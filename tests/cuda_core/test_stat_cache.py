"""What is kept in memory, and that nothing of it outlives what it was read from."""

from __future__ import annotations

import os
import time
from pathlib import Path

import jitcache
import pytest
from jitcache.adapters.cuda_core import _stat_cache as stat_cache
from workspace import Workspace

KEY = b"k" * 32


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Each lookup that goes to the disk."""
    seen: list[object] = []
    get = jitcache.Cache.get

    def counting(self, key, default=None, **more):
        seen.append(key)
        return get(self, key, default, **more)

    monkeypatch.setattr(jitcache.Cache, "get", counting)
    return seen


def test_second_hit_reads_nothing(ours: type, tmp_path: Path, reads: list[object]) -> None:
    cache = ours(tmp_path / "c")
    cache[KEY] = b"x"
    assert [cache[KEY] for _ in range(5)] == [b"x"] * 5
    assert len(reads) == 1


def test_under_a_small_cap_each_hit_reads(ours: type, tmp_path: Path, reads: list[object]) -> None:
    cache = ours(tmp_path / "c", max_size_bytes=1000)
    cache[KEY] = b"x"
    assert [cache[KEY] for _ in range(5)] == [b"x"] * 5
    assert len(reads) == 5


READS = """
import jitcache
get, seen = jitcache.Cache.get, []
jitcache.Cache.get = lambda self, key, default=None, **more: seen.append(key) or get(self, key, default, **more)
cache = ProgramCache(os.environ["CACHE"])
cache["k"] = b"x"
print([cache["k"] for _ in range(3)] == [b"x"] * 3, len(seen))
"""


def test_on_a_network_file_system_each_hit_reads(workspace: Workspace) -> None:
    """Where a stat may tell what was so some seconds ago."""
    assert workspace.run(READS, JITCACHE_FS="network") == "True 3"
    assert workspace.run(READS, JITCACHE_FS="local") == "True 1"


def test_large_ones_are_read_each_time(ours: type, tmp_path: Path, reads: list[object]) -> None:
    cache = ours(tmp_path / "c")
    cache[KEY] = b"x" * (stat_cache.LARGEST + 1)
    assert [len(cache[KEY]) for _ in range(3)] == [stat_cache.LARGEST + 1] * 3
    assert len(reads) == 3


def test_at_most_so_many_are_kept(ours: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stat_cache, "_MOST", 4)
    cache = ours(tmp_path / "c")
    for i in range(10):
        cache[f"{i}"] = b"%d" % i
        assert cache[f"{i}"] == b"%d" % i
        assert len(cache._stat_cache._entries) <= 4
    assert [cache[f"{i}"] for i in range(10)] == [b"%d" % i for i in range(10)]


def test_entry_in_use_stays_young(
    ours: type, tmp_path: Path, reads: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hits in memory do not renew it on disk, so after a while it is read there, which does."""
    monkeypatch.setattr(stat_cache, "_SECONDS", 0.05)
    cache = ours(tmp_path / "c")
    cache[KEY] = b"x"
    assert cache[KEY] == b"x"
    (path,) = (tmp_path / "c" / "v1" / "entries").rglob("*.jce")
    os.utime(path, ns=(0, 1))
    assert cache[KEY] == b"x"
    assert path.stat().st_mtime_ns > 1
    before, end = len(reads), time.monotonic() + 3
    while len(reads) == before and time.monotonic() < end:
        assert cache[KEY] == b"x"
    assert len(reads) > before


def test_hits_are_counted(ours: type, tmp_path: Path) -> None:
    cache = ours(tmp_path / "c")
    cache[KEY] = b"x"
    for _ in range(100):
        assert cache[KEY] == b"x"
    cache.close()
    total = jitcache.Cache(tmp_path / "c").stats()["total"]
    assert (total["hits_memory"], total["hits_disk"]) == (99, 1)


def test_hits_are_counted_at_exit_and_once_after_a_fork(workspace: Workspace) -> None:
    workspace.run("""
        cache = ProgramCache(os.environ["CACHE"])
        cache["k"] = b"x"
        for _ in range(50):
            cache["k"]
        pid = os.fork()
        for _ in range(3):
            assert cache["k"] == b"x"
        if pid == 0:
            cache.close()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    """)
    total = jitcache.Cache(workspace.cache).stats()["total"]
    # The child's on what its parent had read are counted from its next report on.
    assert total["hits_memory"] + total["hits_disk"] == 53


def test_replaced_by_another_process_it_is_seen_at_once(workspace: Workspace) -> None:
    code = """
        import subprocess
        cache = ProgramCache(os.environ["CACHE"])
        other = lambda text: subprocess.run([sys.executable, "-c",
            f"import os; from jitcache.adapters.cuda_core import ProgramCache; c = ProgramCache(os.environ['CACHE']); {text}"], check=True)
        cache["k"] = b"first"
        print(cache["k"], cache["k"])
        other("c['k'] = b'second'")
        print(cache["k"], cache["k"])
        other("del c['k']")
        print(cache.get("k"))
        cache["k"] = b"third"
        print(cache["k"], cache["k"])
        other("c.cache.clear()")
        print(cache.get("k"))
    """
    assert workspace.run(code).split() == ["b'first'"] * 2 + ["b'second'"] * 2 + ["None"] + ["b'third'"] * 2 + ["None"]


def test_evicted_it_is_a_miss(ours: type, tmp_path: Path) -> None:
    cache = ours(tmp_path / "c")
    cache[KEY] = b"x" * 2000
    assert cache[KEY] == b"x" * 2000
    cache.cache.flush()  # a large directory is counted now and then
    jitcache.Cache(tmp_path / "c", max_size=3000).put(jitcache.Key(a=1), b"y" * 2500)
    assert cache.get(KEY) is None
