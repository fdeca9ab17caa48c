"""Intruders: other things in the place of the cache's files, in a directory that others may write."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Callable

import jitcache
import pytest
from processes import check, printed, start


def fifo(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    """A file that is larger than the memory."""
    with path.open("wb") as f:
        f.truncate(64 << 30)


def zero(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("needs root")


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


INTRUDERS = [fifo, sparse, zero, link]


@pytest.mark.parametrize(
    ("intruder", "held"), [(i, held) for i in INTRUDERS for held in (False, True) if i is not link or not held]
)
def test_compile_does_not_hang_at_a_lock_file(tmp_path: Path, intruder: Callable[[Path], None], held: bool) -> None:
    """In another process, because Go's runtime ends its host when memory runs out."""
    directory = tmp_path / "cache"
    jitcache.Cache(directory).close()
    key = jitcache.Key(n=1)
    lock = directory / "v1" / "locks" / f"{key.hex}.jclock"
    intruder(lock)
    code = """
        import sys, jitcache
        assert jitcache.Cache(sys.argv[1]).get_or_compile(jitcache.Key(n=1), lambda: b"made", timeout=1) == b"made"
    """
    if held:
        code = "import fcntl, sys\nf = open(sys.argv[2], 'rb+', 0)\nfcntl.flock(f, fcntl.LOCK_EX)\n" + "\n".join(
            line.strip() for line in code.splitlines()
        )
    p = start(code, directory, lock)
    begin = time.monotonic()
    printed(p)
    assert p.returncode == 0 and time.monotonic() - begin < 10
    if intruder is sparse:
        assert held or not lock.exists()
    else:
        assert lock.lstat(), "what is no lock file is left alone"


@pytest.mark.parametrize("intruder", INTRUDERS)
def test_process_ends_with_anything_for_a_ledger(tmp_path: Path, intruder: Callable[[Path], None]) -> None:
    directory = tmp_path / "cache"
    with jitcache.Cache(directory) as cache:
        cache.put(jitcache.Key(n=0), b"x")
    ledger = directory / "v1" / "ledger"
    ledger.unlink()
    intruder(ledger)
    begin = time.monotonic()
    check(
        """
        import sys, jitcache
        cache = jitcache.Cache(sys.argv[1])
        assert cache.put(jitcache.Key(n=1), b"x")
        cache.verify(), cache.trim(), cache.stats()
        """,
        directory,
    )
    assert time.monotonic() - begin < 10
    assert jitcache.Cache(directory).stats()["entries"] == 2
    assert stat.S_ISREG(ledger.lstat().st_mode) and ledger.stat().st_size < 20_000
    assert Path("/etc/passwd").stat().st_size > 0


def test_folder_of_locks_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    directory, other = tmp_path / "cache", tmp_path / "other"
    jitcache.Cache(directory).close()
    other.mkdir()
    (directory / "v1" / "locks").rmdir()
    (directory / "v1" / "locks").symlink_to(other)
    before = other.stat().st_mtime_ns
    cache = jitcache.Cache(directory)
    assert cache.get_or_compile(jitcache.Key(n=1), lambda: b"made") == b"made"
    cache.trim()
    cache.close()
    assert not list(other.iterdir()) and other.stat().st_mtime_ns == before


def test_path_of_an_entry_is_not_removed_through_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    cache = jitcache.Cache(tmp_path / "cache")
    for n, data in enumerate([b"\x7fELF" + bytes(100), b"text"]):  # linked, copied
        key = jitcache.Key(n=n)
        assert cache.put(key, data)
        entry = cache.entry(key)
        path, other = Path(entry.path), tmp_path / f"other{n}"
        assert tmp_path in path.parents
        other.mkdir()
        victim = other / path.name
        victim.write_text("another's")
        path.parent.rename(tmp_path / f"moved{n}")
        path.parent.symlink_to(other)
        entry.close()
        assert victim.exists()
