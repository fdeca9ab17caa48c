"""The other caches, each behind the same four methods.

Each is used as its manual shows it. None of them checks what it reads, as
jitcache does; lmdb and sqlite3 keep all entries in one file.
"""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any, Callable
from unittest import mock


class Rival:
    """A cache that keeps bytes under keys of its own."""

    name: str

    def key(self, i: object) -> Any:
        """Return the key of entry i, made beforehand."""
        return hashlib.sha256(str(i).encode()).digest()

    get: Callable[[Any], Any]
    set: Callable[[Any, bytes], Any]

    def fill(self, count: int, payload: Callable[[int], bytes]) -> None:
        """Store entries without waiting for the disk, and look each up once."""
        with mock.patch("os.fsync"):
            for i in range(count):
                self.set(self.key(i), payload(i))
        for i in range(min(count, 1000)):
            if self.get(self.key(i)) != payload(i):
                raise AssertionError(f"{self.name}: entry {i} is not what was stored")

    def close(self) -> None:
        pass


class FileStream(Rival):
    """cuda.core's FileStreamProgramCache: a file an entry, fsync, recency by atime."""

    name = "cuda_core"

    def __init__(self, folder: Path, cap: int | None = None) -> None:
        from cuda.core.utils import FileStreamProgramCache

        cache = FileStreamProgramCache(folder, max_size_bytes=cap)
        self.get, self.set = cache.get, cache.__setitem__


class InMemory(Rival):
    """cuda.core's InMemoryProgramCache: a dictionary that gives out the same bytes object."""

    name = "cuda_core"

    def __init__(self, folder: Path) -> None:
        from cuda.core.utils import InMemoryProgramCache

        cache = InMemoryProgramCache()
        self.get, self.set = cache.get, cache.__setitem__


class DiskCache(Rival):
    """diskcache: sqlite for small values and the index, a file for values above 32 KB."""

    name = "diskcache"

    def __init__(self, folder: Path) -> None:
        import diskcache

        self._cache = diskcache.Cache(str(folder))
        self.get, self.set = self._cache.get, self._cache.set

    def key(self, i: object) -> str:
        return hashlib.sha256(str(i).encode()).hexdigest()

    def close(self) -> None:
        self._cache.close()


class Lmdb(Rival):
    """lmdb: one memory map; a transaction a lookup, to see what other processes store."""

    name = "lmdb"

    def __init__(self, folder: Path) -> None:
        import lmdb

        # sync=False: the fill only; no row measures lmdb's puts.
        self._env = lmdb.open(str(folder), map_size=4 << 30, sync=False, max_readers=8)

    def get(self, key: bytes) -> Any:
        with self._env.begin() as transaction:
            return transaction.get(key)

    def set(self, key: bytes, data: bytes) -> None:
        with self._env.begin(write=True) as transaction:
            transaction.put(key, data)

    def close(self) -> None:
        self._env.close()


class Sqlite(Rival):
    """sqlite3: a table of blobs, write-ahead log."""

    name = "sqlite3"

    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(str(folder / "cache.db"), isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=OFF")  # the fill only, as above
        self._db.execute("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB)")

    def get(self, key: bytes) -> Any:
        row = self._db.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def set(self, key: bytes, data: bytes) -> None:
        self._db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?)", (key, data))

    def close(self) -> None:
        self._db.close()


ON_DISK: list[type[Rival]] = [FileStream, DiskCache, Lmdb, Sqlite]

# What has to import for each.
_NEEDS = {FileStream: "cuda.core.utils", InMemory: "cuda.core.utils", DiskCache: "diskcache", Lmdb: "lmdb"}


def usable(kind: type[Rival]) -> str:
    """Return "" if a rival can be used, else why not."""
    try:
        if kind in _NEEDS:
            __import__(_NEEDS[kind])
    except Exception as e:  # noqa: BLE001: bindings raise what they like
        return f"{type(e).__name__}: {e}"
    return ""


def cuda_core_key() -> Callable[[str], bytes]:
    """Return cuda.core's key function of a source, with the options made beforehand."""
    from cuda.core import ProgramOptions
    from cuda.core.utils import make_program_cache_key

    options = ProgramOptions(arch="sm_80")

    def make(source: str) -> bytes:
        return make_program_cache_key(code=source, code_type="c++", options=options, target_type="cubin")

    return make
