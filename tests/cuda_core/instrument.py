"""Imported by every process that a test starts, and by pytest for controls: takes mechanisms out.

$WITHOUT names them. $LINKED is a file to which a line is added for each program of
PTX or NVVM IR that cuda.core compiles for us, each of which takes $LINKED_SLEEP seconds more.
"""

from __future__ import annotations

import os
import sys
import time


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    from jitcache import Cache, cuda
    from jitcache.adapters.cuda_core import _headers as headers
    from jitcache.adapters.cuda_core import _linked as linked
    from jitcache.adapters.cuda_core import _linker as linker
    from jitcache.adapters.cuda_core import _program as program
    from jitcache.adapters.cuda_core import _program_cache as cache
    from jitcache.adapters.cuda_core import _stat_cache as stat_cache

    if what == "replace":
        put = Cache.put
        Cache.put = lambda self, *a, replace=False, **k: put(self, *a, **k)
    elif what == "file":  # what was kept holds, whatever becomes of its file
        stat_cache._identity = lambda path: (0, 0, 0, 0)
    elif what == "seconds":  # it is never read again
        stat_cache._monotonic = lambda: 0.0
    elif what == "exact":  # what was kept is given out under any cap
        cache._EXACT_BELOW = 0
    elif what == "kind":
        clear = Cache.clear
        Cache.clear = lambda self, kind=None: clear(self)
        Cache.count = lambda self, kind=None: len(self)
    elif what == "names":
        cache._bytes_of = lambda key: repr(key).encode()
    elif what == "hits":
        stat_cache.StatCache._report = lambda self, entry: None
    elif what == "lease":
        cuda.wait = lambda cache, lib, key, timeout: (None, None, False)
    elif what == "linked lease":
        Cache.acquire = lambda self, key, timeout=None, *, kind="generic": cache_lease(self, key, kind)
    elif what == "log":
        cuda.Code.log = ""
    elif what == "symbols":
        cuda.Code.lowered_names = property(lambda self: dict.fromkeys(("axpy<int>", "axpy<float>"), ""))
    elif what == "variables":
        linked.obeyed = linker.obeyed = lambda cache, library: []
    elif what == "library":
        linked.Tool = linker.Tool = lambda path: "some library"
        linked.obeyed = linker.obeyed = lambda cache, library: []
    elif what == "started":
        linked.is_older_than_process = linker.is_older_than_process = lambda found: True
    elif what == "options":  # none names a file
        linked.may_name_a_file = linker.may_name_a_file = lambda given: False
    elif what == "described":  # options do not matter
        linker._options = lambda fields: {}
    elif what == "objects":  # their number matters alone
        linker._content = lambda code: None
    elif what == "order":
        key = linker._key
        linker._key = lambda asked, *more: key(asked._replace(objects=sorted(asked.objects, key=size)), *more)
    elif what == "unloaded":  # nvJitLink is loaded to know which it is
        linker._in_a_package = lambda: ""
    elif what == "memory":  # files are named in place of read
        linker._in_memory = lambda code: code
    elif what == "libdevice":
        linked.File = str
    elif what == "paths":
        program._with_text_paths = lambda options: options
    elif what == "major":
        program._nvrtc = lambda: ""
    elif what == "install":
        headers._state = lambda folder: (0, 0)
        headers._written = Everything()
    elif what == "names of errors":
        program.translated = lambda error: error
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


def cache_lease(self, key, kind):
    from jitcache import Lease

    return Lease(self, key, kind, data=self.get(key))


def size(code):
    return len(code.code)


class Everything:
    def get(self, name: object) -> object:
        return (0, 0)


def watch_programs(path: str) -> None:
    from jitcache.adapters.cuda_core import _job as job

    class Watched(job.Program):
        def compile(self, *args, **more):
            with open(path, "a") as f:
                f.write("compiled\n")
            time.sleep(float(os.environ.get("LINKED_SLEEP", "0")))
            return super().compile(*args, **more)

    job.Program = Watched


for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
if os.environ.get("LINKED"):
    watch_programs(os.environ["LINKED"])
