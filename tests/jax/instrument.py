"""Imported by every process that a test starts: has XLA's compiles written down, and takes mechanisms out.

$COMPILED is a file to which a line is added for each program that XLA begins to
compile, whoever asks. $SLEEP: the seconds that each takes more. $CPU: what XLA says
of the processor. $WITHOUT: the mechanisms.
"""

from __future__ import annotations

import os
import sys
import time

from jax._src import compiler


def watch(path: str) -> None:
    original = compiler.backend_compile_and_load

    def backend_compile_and_load(backend, module, *args, **more):
        name = str(module.operation.attributes["sym_name"]).strip('"')
        with open(path, "a") as f:
            f.write(name + "\n")
        if name == os.environ.get("SLOW"):
            time.sleep(float(os.environ["SLEEP"]))
        return original(backend, module, *args, **more)

    compiler.backend_compile_and_load = backend_compile_and_load


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    from jitcache import Cache, Lease
    from jitcache.adapters.jax import _compile, _cpu, _hooks, _key

    if what == "lease":
        Cache.acquire = lambda self, key, timeout=None, *, kind="generic": Lease(self, key, kind, data=self.get(key))
        _compile.Compile.store = lambda self, cache, name, data: _compile.put(cache, name, data)
    elif what == "end":  # leases are left to whoever collects them
        kept = []
        Lease.__del__ = lambda self: kept.append(self)
        Lease.release = lambda self: None
    elif what == "cpu":
        _key.description = lambda: "some processor"
    elif what == "build":
        _key.build = lambda: "some build"
    elif what == "form":
        _key._form = lambda: ""
    elif what == "thresholds":
        _hooks._keep_small_ones = lambda: None
    elif what == "others":
        _hooks.complete = lambda compile_, executable, backend: None
    elif what == "replace":
        put = Cache.put
        Cache.put = lambda self, *a, replace=False, **k: put(self, *a, **k)
    elif what == "guard":
        _hooks._unfit = lambda: ""
    elif what == "usable":
        from jitcache.adapters import jax as adapter

        adapter._cache.fits = lambda cache: True
    elif what == "kind":
        clear = Cache.clear
        Cache.clear = lambda self, kind=None: clear(self)
    elif what == "settings":
        _hooks._settings = Nothing()
    elif what == "serialized":
        _hooks._unserved = lambda backend: ""
    elif what == "verify":
        take_out_verification()
    else:
        sys.exit(f"instrument: nothing is called {what!r}")
    _cpu.description.cache_clear()


class Nothing(dict):
    def setdefault(self, name: object, value: object = None) -> object:
        return value


def take_out_verification() -> None:
    """Read entries as JAX reads its files: whatever is there."""
    from pathlib import Path

    from jitcache.adapters.jax import _compile

    def file_of(cache, name):
        return Path(cache.stats()["directory"]) / "unverified" / name

    def look_up(self, cache, name):
        file = file_of(cache, name)
        return file.read_bytes() if file.exists() else None

    def store(self, cache, name, data):
        file = file_of(cache, name)
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_bytes(data)

    _compile.Compile.look_up, _compile.Compile.store = look_up, store


if os.environ.get("COMPILED"):
    watch(os.environ["COMPILED"])
if os.environ.get("CPU"):
    from jitcache.adapters.jax import _cpu

    _cpu._said_by_xla = lambda: os.environ["CPU"]
for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
