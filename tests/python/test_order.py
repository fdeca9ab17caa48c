"""Order: a hit in memory is never older than the last put or removal of this process."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import jitcache
import pytest
from test_fork import in_child


class Register:
    """A key, and a record of its changes: each version is higher than those before."""

    def __init__(self, n: int) -> None:
        self.key = jitcache.Key(n=n)
        self.version = 0
        self.floor = 0  # no lookup that begins now may return less


@pytest.mark.control("noorder")
def test_no_entry_is_older_than_what_was_replaced_or_removed_before(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache")
    registers = [Register(n) for n in range(4)]
    end = time.monotonic() + 3
    wrong: list[str] = []
    changes = [0] * len(registers)

    def write(n: int) -> None:
        r, rnd = registers[n], random.Random(n)
        while time.monotonic() < end:
            r.version += 1
            if rnd.random() < 0.2:
                cache.remove(r.key)
            elif not cache.put(r.key, b"%d" % r.version, replace=True):
                continue
            r.floor = r.version
            changes[n] += 1

    def read() -> None:
        n = 0
        while time.monotonic() < end:
            n += 1
            r = registers[n % len(registers)]
            floor = r.floor
            entry = cache.entry(r.key)
            if entry is not None and int(bytes(entry.view)) < floor:
                wrong.append(f"version {bytes(entry.view)!r} after {floor}")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(len(registers))]
    threads += [threading.Thread(target=read) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, f"{len(wrong)} of them, the first {wrong[0]}, in {sum(changes)} changes"
    assert min(changes) > 20


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork with threads, which Go's are
def test_child_of_a_fork_beside_a_put_keeps_what_it_reads(tmp_path: Path) -> None:
    cache = jitcache.Cache(tmp_path / "cache", memory_size="1Gi")
    key = jitcache.Key(n=1)
    put = threading.Thread(target=cache.put, args=(key, os.urandom(128 << 20)))
    put.start()
    writing = tmp_path / "cache" / "v1" / "tmp"
    while not any(writing.iterdir()):
        pass
    size = b"" if put.is_alive() else None

    def child() -> None:
        path = tmp_path / "cache" / "v1" / "entries" / key.hex[:2] / f"{key.hex[2:]}.jce"
        while not path.exists():  # the parent is storing it
            time.sleep(0.001)
        assert len(cache.entry(key).view) == 128 << 20
        path.unlink()
        assert cache.entry(key) is not None, "what was read is not kept"

    assert in_child(child) == 0
    assert size is not None, "the put was over before the fork"
    put.join()
