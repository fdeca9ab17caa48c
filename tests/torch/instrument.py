"""Imported by every process that a test starts: has processes written down, and takes mechanisms out.

$COMPILED is a file to which a line is added for each process that Python starts.
$WITHOUT: the mechanisms.
"""

from __future__ import annotations

import os
import sys

_STARTS = frozenset(
    ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn", "subprocess.Popen")
)


def watch(path: str) -> None:
    def note(event: str, args: tuple) -> None:
        if event in _STARTS:
            with open(path, "a") as f:
                f.write(f"{event} {args[1] if len(args) > 1 else args}"[:300].replace("\n", " ") + "\n")

    sys.addaudithook(note)


def without_hook(*names: str) -> None:
    """Leave functions of PyTorch's as they are."""
    from jitcache.adapters.torch import _hooks as hooks

    def kept(these):
        return tuple(h._replace(replace=lambda original: original) if h.name in names else h for h in these)

    hooks._GRAPHS, hooks._MORE = kept(hooks._GRAPHS), kept(hooks._MORE)


HOOKS = {
    "graphs": ("GuardedCache.iterate_over_candidates",),
    "details": ("FxGraphHashDetails.__init__",),
    "repair": ("_worker_compile_cpp",),
    "header": ("_precompile_header",),
    "memo": ("torch_key",),
    "isa": ("VecISA.check_build",),
    "asked": ("cpp_compiler_search", "_compiler_version_string", "get_compiler_version_info"),
}


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    import torch._inductor.codecache  # noqa: F401 - the hooks' modules need it
    from jitcache import Cache, Error, Lease
    from jitcache.adapters.torch import _compiler as compiler
    from jitcache.adapters.torch import _details as details
    from jitcache.adapters.torch import _graphs as graphs
    from jitcache.adapters.torch import _hooks as hooks
    from jitcache.adapters.torch import _probes as probes

    if what in HOOKS:
        without_hook(*HOOKS[what])
    elif what == "lease":
        Cache.acquire = lambda self, key, timeout=None, *, kind="generic": Lease(self, key, kind, data=self.get(key))
        Lease.commit = lambda self, data: self._cache.put(self._key, data, kind=self._kind)
    elif what in ("numbers", "guards"):  # a key has one candidate
        graphs.MOST = 1
    elif what == "name":  # of the vector ISA, and no more
        details.vec_isa = lambda: "asimd"
    elif what == "environment":
        compiler._ENVIRONMENT = ()
    elif what == "plain names":  # commands are observed where PyTorch runs them
        compiler._SOURCES = ()
    elif what == "error":  # a compile that fails is tried again by PyTorch
        compiler.CompileError = ZeroDivisionError
    elif what == "damage":
        graphs.Exception = ZeroDivisionError
    elif what == "works":  # an answer that is no is kept too
        probes.bool = lambda answer: True
    elif what == "kind":
        clear = Cache.clear
        Cache.clear = lambda self, kind=None: clear(self)
    elif what == "guard":
        hooks.Hook.fits = lambda self: True
    elif what == "tag":
        hooks._set_tag = lambda: None
    else:
        sys.exit(f"instrument: nothing is called {what!r} {Error}")


if os.environ.get("COMPILED"):
    watch(os.environ["COMPILED"])
for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
