"""What processes do to one directory at the same time, until they are killed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import jitcache
from crowd import Crowd

KEYS = 300
KINDS = ("cubin", "native")
CAP = 16 << 20  # a fifth of what all entries would take
LARGEST = 500_000

Role = Callable[[Crowd, Path], NoReturn]


def key(n: int) -> jitcache.Key:
    return jitcache.Key(n=n)


def payload(n: int, version: int) -> bytes:
    """One of the results of compiling n. It says which, so that a mix of two is found out."""
    size = 1000 + (n * 7919 + version * 104729) % LARGEST
    word = hashlib.sha256(b"%d %d" % (n, version)).digest()
    return b"\x7fELF%6d%6d" % (n, version) + word * (size // len(word))


def is_payload(n: int, data: bytes) -> bool:
    try:
        return data == payload(n, int(data[10:16]))
    except ValueError:
        return False


def cache_of(folder: Path, *, durable: bool = False) -> jitcache.Cache:
    return jitcache.Cache(folder, max_size=CAP, memory_size=0, durable=durable)


def _chance() -> random.Random:
    return random.Random(os.getpid() ^ time.monotonic_ns())


def writer(crowd: Crowd, folder: Path) -> NoReturn:
    chance = _chance()
    cache = cache_of(folder, durable=chance.random() < 0.5)
    while True:
        n = chance.randrange(KEYS)
        new = payload(n, chance.randrange(1000))
        kind = KINDS[n % 2]
        if chance.random() < 0.5:
            cache.put(key(n), new, kind=kind, replace=True)
        else:
            with cache.acquire(key(n), kind=kind) as lease:
                if lease.data is None:
                    lease.commit(new)


def reader(crowd: Crowd, folder: Path) -> NoReturn:
    cache, chance = cache_of(folder), _chance()
    while True:
        n = chance.randrange(KEYS)
        data = cache.get(key(n))
        if data is None:
            if cache.last_miss != "absent":
                crowd.complain(f"entry {n} missed: {cache.last_miss}\n")
            continue
        if not is_payload(n, data):
            crowd.complain(f"wrong bytes of entry {n}\n")
        if chance.random() < 0.2:
            entry = cache.entry(key(n))
            if entry is not None and not is_payload(n, Path(entry.path).read_bytes()[: entry.size]):
                crowd.complain(f"another file at the path of entry {n}\n")


def trimmer(crowd: Crowd, folder: Path) -> NoReturn:
    cache = cache_of(folder)
    while True:
        cache.trim()
        time.sleep(0.1)


def clearer(crowd: Crowd, folder: Path) -> NoReturn:
    cache, chance = cache_of(folder), _chance()
    while True:
        for _n in range(20):
            cache.remove(key(chance.randrange(KEYS)))
            time.sleep(0.02)
        cache.clear(chance.choice([*KINDS, None]))


# ------------------------------------------------------------------ for controls


def rogue_writer(crowd: Crowd, folder: Path) -> NoReturn:
    """Write entries as a store without a commit would: in place, one piece after the other."""
    chance = _chance()
    while True:
        with contextlib.suppress(FileNotFoundError):
            path = _some_entry(folder, chance)
            whole = path.read_bytes()
            with path.open("wb", buffering=0) as f:
                f.write(whole[: len(whole) // 2])
                time.sleep(0.05)
                f.write(whole[len(whole) // 2 :])


def rogue_flipper(crowd: Crowd, folder: Path) -> NoReturn:
    """Damage payloads, where only a checksum can tell."""
    chance = _chance()
    while True:
        with contextlib.suppress(FileNotFoundError), _some_entry(folder, chance).open("r+b") as f:
            f.seek(100)
            f.write(b"damage")


def _some_entry(folder: Path, chance: random.Random) -> Path:
    """An entry that may be gone when it is opened."""
    time.sleep(0.005)
    found = sorted((folder / "v1" / "entries").glob("*/*.jce"))
    if not found:
        raise FileNotFoundError
    return chance.choice(found)
