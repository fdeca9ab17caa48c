"""Processes one after the other: what the next one finds, and the counters."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import jitcache
from processes import check, run


def stats(directory: Path) -> dict[str, object]:
    out = check(
        """
        import sys, jitcache.__main__
        sys.argv[1:] = ["-directory", sys.argv[1], "stats", "-json"]
        sys.exit(jitcache.__main__.main())
        """,
        directory,
    )
    return json.loads(out)


def test_three_compiles_in_one_process_are_three_hits_in_the_next(tmp_path: Path) -> None:
    """And the counters show it, by kind, although neither process closes its cache."""
    ask = """
        import sys, jitcache
        cache = jitcache.Cache(sys.argv[1])
        compiled = []
        for n, kind in enumerate(["cubin", "cubin", "native"]):
            def compile():
                compiled.append(n)
                return b"code %d" % n
            assert cache.get_or_compile(jitcache.Key(n=n), compile, kind=kind) == b"code %d" % n
        print(len(compiled))
    """
    directory = tmp_path / "cache"
    assert check(ask, directory) == "3\n"
    s = stats(directory)["kinds"]
    assert {k: (v["compiles"], v["hits_disk"] + v["hits_memory"]) for k, v in s.items()} == {
        "cubin": (2, 0),
        "native": (1, 0),
    }
    assert check(ask, directory) == "0\n"
    s = stats(directory)["kinds"]
    assert {k: (v["compiles"], v["hits_disk"]) for k, v in s.items()} == {"cubin": (2, 2), "native": (1, 1)}
    assert {k: v["misses"] for k, v in s.items()} == {"cubin": 2, "native": 1}


def test_counters_of_a_c_exit_are_written(tmp_path: Path) -> None:
    """os._exit loses at most ten seconds of counters; every other end loses none."""
    for end in ("sys.exit(3)", "raise SystemExit", "1/0", "pass"):
        directory = tmp_path / end.replace("/", "")
        run(
            f"import sys, jitcache; c = jitcache.Cache(sys.argv[1]); c.put(jitcache.Key(a=1), b'x'); c.get(jitcache.Key(a=1)); {end}",
            directory,
        )
        total = stats(directory)["total"]
        assert (total["puts"], total["hits_memory"]) == (1, 1), end


def test_a_cache_copied_elsewhere_hits(tmp_path: Path) -> None:
    """With cp and with tar, which preserve different attributes."""
    cache = jitcache.Cache(tmp_path / "cache")
    keys = [jitcache.Key(n=n) for n in range(20)]
    for n, k in enumerate(keys):
        cache.put(k, b"code %d" % n)
    cache.close()
    subprocess.run(["cp", "-r", tmp_path / "cache", tmp_path / "copied"], check=True)
    (tmp_path / "untarred").mkdir(mode=0o700)
    subprocess.run(
        f"tar -C {tmp_path / 'cache'} -cf - . | tar -C {tmp_path / 'untarred'} -xf -", shell=True, check=True
    )
    for name in ("copied", "untarred"):
        copy = jitcache.Cache(tmp_path / name, memory_size=0)
        assert [copy.get(k) for k in keys] == [b"code %d" % n for n in range(20)]
        assert copy.put(jitcache.Key(n="new"), b"x")
        assert copy.stats()["entries"] >= 20


def test_a_cache_is_used_by_processes_at_the_same_time(tmp_path: Path) -> None:
    code = """
        import os, random, sys, jitcache
        cache = jitcache.Cache(sys.argv[1], max_size="200k", memory_size=0)
        random.seed(int(sys.argv[2]))
        for i in range(400):
            n = random.randrange(60)
            k = jitcache.Key(n=n)
            want = bytes([n]) * (1000 + 100 * n)
            r = random.random()
            if r < 0.5:
                got = cache.get(k)
                assert got is None or got == want, (n, len(got))
            elif r < 0.95:
                assert cache.put(k, want, replace=r < 0.6), cache.last_reason
            elif r < 0.97:
                cache.remove(k)
            elif r < 0.98:
                cache.clear()
            else:
                cache.trim()
    """
    import sys

    from processes import start

    children = [start(code, tmp_path / "cache", n, stderr=subprocess.PIPE) for n in range(4)]
    for c in children:
        _, err = c.communicate(timeout=120)
        assert c.returncode == 0, err
    cache = jitcache.Cache(tmp_path / "cache")
    assert cache.verify()["bad"] == []
    cache.trim()
    assert cache.stats()["bytes"] <= 200_000
    assert sys.version_info >= (3, 9)
