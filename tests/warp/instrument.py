"""Imported by every process that a test starts: has Warp's compiles written down, and takes mechanisms out.

$COMPILED is a file to which a line is added for each module that Warp's clang begins
to compile, whoever asks. $SLEEP: the seconds that each takes more. $CPU: what LLVM
calls the processor. $WITHOUT: the mechanisms.
"""

from __future__ import annotations

import os
import sys
import time
from types import SimpleNamespace

from warp._src import build, context


def watch(path: str) -> None:
    original = build.build_cpu

    def build_cpu(output_path, *args, **more):
        with open(path, "a") as f:
            f.write(os.path.basename(output_path) + "\n")
        time.sleep(float(os.environ.get("SLEEP", "0")))
        return original(output_path, *args, **more)

    build.build_cpu = build_cpu


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    from jitcache import Cache, Lease
    from jitcache.adapters.warp import _files, _hooks, _key, _meanings

    if what == "lease":
        Cache.acquire = lambda self, key, timeout=None, *, kind="generic": Lease(self, key, kind, data=self.get(key))
        Lease.commit = lambda self, data: self._cache.put(self._key, data, kind=self._kind)
    elif what == "end":  # leases are left to whoever collects them
        kept = []
        Lease.__del__ = lambda self: kept.append(self)
        Lease.release = lambda self: None
    elif what == "repair":  # what is in Warp's folder is taken as it is
        _files._is = lambda path, data: path.exists()
    elif what == "private":  # what is in Warp's folder is kept
        _hooks._compiled = kept_as_found
    elif what == "processor":
        _key._processor = lambda: ""
    elif what == "toolchain":
        _key._toolchain = lambda: "any"
    elif what == "named":
        _key.obeyed = lambda cache, toolchain: []
    elif what == "disguised":
        _key.obeyed.__globals__["codecs"] = SimpleNamespace(encode=lambda name, how: name)
    elif what == "digits":  # of the hash, as in Warp's names
        _hooks.key_of = lambda module, name, arch, options: _key.Key(name=name).named(module.name)
    elif what == "meanings":
        _key.meanings = lambda module, block_dim, *, lines: []
    elif what == "templates":
        _key._templates = list
    elif what == "handed":
        _meanings._hash_named = lambda hasher, note: None
        _meanings._hash_of = lambda function, hasher: ""
    elif what == "hashes":  # functions are told apart by their names
        _meanings._hash_of = lambda function, hasher: ""
    elif what == "defaults":
        _meanings._defaults = lambda adj: []
    elif what == "types":
        _meanings._type = lambda value: value.__qualname__
    elif what == "own":  # what is set anywhere counts as set
        outer = _meanings._outer_names
        _meanings._outer_names = lambda adj: [path for path in outer(adj) if path[0] not in adj.assigned_name_ids()]
    elif what == "trees":
        _meanings.ast.dump = lambda tree: ""
    elif what == "fresh":  # a name means what it has meant when Warp took the hash
        value_of, values = _meanings._value, {}
        _meanings._value = lambda adj, path: values.setdefault((id(adj), path), value_of(adj, path))
    elif what == "fallback":
        _hooks.Exception = _meanings.Exception = OSError
    elif what == "places":
        meanings = _key.meanings
        _key.meanings = lambda module, block_dim, *, lines: meanings(module, block_dim, lines=False)
    elif what == "flags":
        _key._flags = lambda options: []
    elif what == "generator":  # what Warp is written in is not looked at
        below = _key._below
        _key._below = lambda folder: [path for path in below(folder) if not path.endswith(".py")]
    elif what == "started":
        _key.is_older_than_process = lambda found: True
    elif what == "meanwhile":
        key_of, keys = _hooks.key_of, {}

        def once(module, *more):
            if module not in keys:
                keys[module] = key_of(module, *more)
            return keys[module]

        _hooks.key_of = once
    elif what == "outside":
        _key._OUTSIDE = ()
    elif what == "includes":
        _hooks.unseen = lambda source: ""
    elif what == "kind":
        clear = Cache.clear
        Cache.clear = lambda self, kind=None: clear(self)
    elif what == "guard":
        _hooks.unfit = lambda: ""
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


def kept_as_found(original, module, given, lease):
    from pathlib import Path

    from jitcache.adapters.warp import _files

    result = original(module, *given)
    lease.commit(_files.pack(_files.read(Path(given[1]))))
    return result


if os.environ.get("COMPILED"):
    watch(os.environ["COMPILED"])
if os.environ.get("CPU"):
    context._get_host_cpu_name = lambda: os.environ["CPU"]
if os.environ.get("TOOLCHAIN"):  # a file in the place of the libraries and headers
    from jitcache import Tool
    from jitcache.adapters.warp import _key as key

    key._compilers = lambda: {"library": Tool(os.environ["TOOLCHAIN"])}
for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
