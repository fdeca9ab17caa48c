"""What a long run costs the host: memory, handles, threads. The figures are those of long_run.c."""

from __future__ import annotations

import re
from pathlib import Path

import builds
import programs
import pytest
from processes import check

SOURCE = Path(__file__).with_name("long_run.c")


def long_run(folder: Path, library: Path, *args: object) -> tuple[set[str], str]:
    """Run long_run.c against a library; return which of its tests failed, and what it printed."""
    program = programs.compile(folder / "long_run", [SOURCE], library=library)
    status, text = programs.run(program, folder, *args, timeout=600)
    failed = set(re.findall(r"^FAILED (\w+)$", text, re.MULTILINE))
    assert (status == 0) == (not failed) and "5 run" in text, f"{status}: {text}"
    return failed, text


def test_long_run_leaves_memory_handles_and_threads_as_they_were(tmp_path: Path, soak: bool) -> None:
    hits, seconds = (1_000_000, 20) if soak else (200_000, 3)
    failed, text = long_run(tmp_path, builds.plain(), hits, seconds)
    print("\n".join(re.findall(r"^figure .*$", text, re.MULTILINE)))
    assert not failed, text


def test_control_leak_is_seen(tmp_path: Path) -> None:
    failed, text = long_run(tmp_path, builds.plain(), 200_000, 0.1, "leak")
    assert failed == {
        "hits_in_memory_leave_memory_and_handles_as_they_were",
        "hits_on_disk_leave_memory_and_handles_as_they_were",
        "handles_that_were_released_are_used_again",
    }, text


def test_control_threads_without_a_limit_are_seen(tmp_path: Path) -> None:
    """With as many threads of Go as a large machine would get."""
    failed, text = long_run(tmp_path, builds.control("procs", control="procs"), 1000, 5)
    assert "threads_stay_few" in failed, text


HITS = """
    import sys, jitcache
    folder, hits, leak = sys.argv[1], int(sys.argv[2]), len(sys.argv) > 3
    keys = [jitcache.Key(n=n) for n in range(100)]
    kept = []

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4

    def look(cache, get, n):
        for i in range(n):
            got = get(keys[i % 100])
            assert len(got) == 4096
            if leak and i % 10 == 0:
                kept.append(bytes(got) + b"x")

    for memory, share in (("64Mi", 1), (0, 4)):
        cache = jitcache.Cache(folder, memory_size=memory)
        for k in keys:
            cache.put(k, bytes(4096))
        for get in (cache.get, cache.view):
            n = hits // share
            look(cache, get, n // 2)
            before = resident()
            look(cache, get, n)
            print(f"growth {resident() - before}")
"""


@pytest.mark.parametrize("leak", [False, True], ids=["plain", "control_leak"])
def test_hits_from_python_leave_memory_as_it_was(tmp_path: Path, soak: bool, leak: bool) -> None:
    out = check(HITS, tmp_path / "cache", 250_000 if soak and not leak else 40_000, *(["leak"] if leak else []))
    growth = [int(word) for word in re.findall(r"growth (-?\d+)", out)]
    if not leak:
        print(f"figure growth_python {max(growth)} KiB")
    assert len(growth) == 4
    assert (max(growth) <= 2048) != leak, out
