"""Rows about layers: what is found in another directory than the own."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runs import Ask, Contender, Series
from workplace import SIZES, Workplace, check_rise, counters

SIZE = 64 << 10


@contextmanager
def environment(**env: str) -> Iterator[None]:
    """What is opened meanwhile sees these variables."""
    before = dict(os.environ)
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def layer_hit(w: Workplace) -> Iterator[Series]:
    """The same entries, once in the own directory and once in a layer below one without them, in one process.

    The floor is a hit in the own directory behind an open of a file that is not there.
    """
    for name in ("24k", "64k", "1m", "64k_empty"):
        at, _, empty = name.partition("_")
        n = w.count(at)
        with environment(JITCACHE_LAYERS=str(w.entries(at))), w.bench() as c:
            over = w.folder(f"over-{name}")
            for place, folder in enumerate((w.entries(at), over)):
                c.ask("open", place, folder, 0, "-")
                c.ask("corpus", place, at, n, SIZES[at])  # which stores them, too
            for folder in (over / "v1" / "entries").iterdir():
                for file in folder.iterdir():
                    file.unlink()
                if empty:
                    folder.rmdir()
            before = counters(c, 1)
            own, layer = (Ask(c, "get", place, n, count=n) for place in (0, 1))
            floor = Ask(c, "get_behind", 0, 1, n, count=n)
            contenders = [Contender("own", own), Contender("jitcache", layer), Contender("floor", floor)]
            yield Series(name, contenders, w.scale.rounds)
            check_rise("hit in a layer", before, counters(c, 1), hits_layer=layer.ops, hits_disk=0, puts=0)


class _First:
    """A contender: first hits of a layer that others may write, beside puts of as much, each into a new directory."""

    def __init__(self, w: Workplace, layer: Path, count: int) -> None:
        import jitcache

        self._w, self._layer, self._round = w, layer, 0
        self._keys = [jitcache.Key(n=n) for n in range(count)]
        self._payloads = [os.urandom(SIZE) for _ in range(8)]

    def _per_key(self, name: str, call: str) -> float:
        import jitcache

        folder = self._w.ready(f"{name}-{self._round}")
        with jitcache.Cache(folder, memory_size=0) as cache:
            start = time.perf_counter_ns()
            for n, key in enumerate(self._keys):
                if call == "put":
                    cache.put(key, self._payloads[n % 8])
                else:
                    assert cache.get(key) is not None
            took = (time.perf_counter_ns() - start) / 1e3 / len(self._keys)
            assert len(cache) == len(self._keys)
        return took

    def __call__(self) -> dict[str, float]:
        self._round += 1
        put = self._per_key("layer-put", "put")
        first = self._per_key("layer-first", "get")
        return {"put": put, "first_hit": first, "beyond_put": first - put}


def signed_layer(w: Workplace) -> Iterator[Series]:
    """A layer that anybody may write, whose entries are signed."""
    import jitcache

    n, folder = min(w.scale.entries, 200), w.folder("signed")
    secret = folder / "secret"
    command = [str(w.ground.library.parent / "jitcache"), "trust", "new", str(secret)]
    public = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    layer = folder / "layer"
    with environment(JITCACHE_SIGNING_KEY_FILE=str(secret)), jitcache.Cache(layer, memory_size=0) as cache:
        for i in range(n):
            cache.put(jitcache.Key(n=i), os.urandom(SIZE))
    layer.chmod(0o777)
    with environment(JITCACHE_LAYERS=str(layer), JITCACHE_KEYS=public):
        yield Series("64k", [Contender("jitcache", _First(w, layer, n))], w.scale.slow)
