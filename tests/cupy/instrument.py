"""Imported by every process that a test starts: stands in for a GPU, and takes mechanisms out.

A module is not loaded, but has what the driver would be given; the architecture is
the one that is asked for. $WITHOUT: the mechanisms.
"""

from __future__ import annotations

import functools
import os
import sys

from cupy.cuda import compiler, function


class Module(function.Module):
    """As CuPy's, without a driver."""

    code = b""

    def load(self, code):
        self.code = bytes(code)


def kept_as_found(program, cache):
    """Ask a cache by the source and the options only."""
    from jitcache import Key

    key = Key(source=program.source, options=program.options, names=program.expressions).named(program.name)
    found = cache.get(key)
    if found is not None:
        return Found(found)
    code = original_code_of(program, cache)
    cache.put(key, code.code, kind="cupy")
    return code


class Found:
    refused, log, lowered_names = "", "", {}

    def __init__(self, code):
        self.code = code


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    global original_code_of
    from jitcache import Cache, cuda
    from jitcache.adapters.cupy import _hooks, _program

    if what == "lease":
        cuda.wait = lambda cache, lib, key, timeout: (None, None, False)
    elif what == "observed":
        original_code_of = _program.code_of
        _program.code_of = kept_as_found
    elif what == "spared":
        _hooks._Spared.get = dict.get
    elif what == "names":
        cuda.Code.lowered_names = property(lambda self: dict.fromkeys(("axpy<float>", "axpy<double>"), ""))
    elif what == "kind":
        _program.KIND = ""
    elif what == "left":  # what cannot be served is an error
        _hooks.LeftError = ZeroDivisionError
    elif what == "compile exception":
        _program.compiler.CompileException = RuntimeError
    elif what == "relocatable":
        _program.compiler._is_cudadevrt_needed = lambda options: False
    elif what == "folder":  # where CuPy's own would not find a header
        _program._name_of = lambda *request: "kernel.cu"
    elif what == "digest":
        _program._name_of = lambda *request: "/cupy/k.cu"
    elif what == "replaced":
        _hooks.replaced = lambda program: ""
    elif what == "of the class":  # a function stands in for the class
        _hooks._program = lambda original, whole=_hooks._program: functools.partial(whole(original))
    elif what == "guard":
        _hooks.unfit = lambda: ""
    elif what == "clear":
        clear = Cache.clear
        Cache.clear = lambda self, kind=None: clear(self)
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


function.Module = Module
compiler._get_arch_for_options_for_nvrtc = lambda arch=None: (f"-arch=sm_{arch}", "cubin")
for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
