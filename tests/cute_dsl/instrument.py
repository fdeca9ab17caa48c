"""Imported by every process that a test starts: counts traces and compiles from outside.

A trace is counted where the DSL begins to make a module, a compile where it runs
its passes, a line each in $COMPILE_LOG. $WITHOUT names mechanisms to take out,
$VERSION another version of the DSL and $PROCESSOR another processor to be.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from types import MappingProxyType

import cutlass
import cutlass.cute as cute
from cutlass.base_dsl.compiler import Compiler
from cutlass.cutlass_dsl import CuTeDSL
from jitcache import Cache
from jitcache import _code as code
from jitcache.adapters import cute_dsl
from jitcache.adapters.cute_dsl import _memory as memory
from jitcache.adapters.cute_dsl import _object as objects
from jitcache.adapters.cute_dsl import _settings as settings
from jitcache.adapters.cute_dsl import _source as source
from jitcache.adapters.cute_dsl import _text as text
from jitcache.adapters.cute_dsl import _tools as tools
from jitcache.adapters.cute_dsl import _trace as trace
from jitcache.adapters.cute_dsl import _visibility as visibility
from jitcache.adapters.cute_dsl import _walk as walk


def note(what: str) -> None:
    with open(os.environ["COMPILE_LOG"], "a") as f:
        f.write(f"{what}\n")


def noted() -> list[str]:
    with open(os.environ["COMPILE_LOG"], "a+") as f:
        f.seek(0)
        return f.read().split()


_compile, _generate = Compiler.compile, CuTeDSL.generate_mlir


def compile_(self, *args, **kwargs):
    note("compile")
    if os.environ.get("PAUSE"):
        import time

        time.sleep(float(os.environ["PAUSE"]))
    return _compile(self, *args, **kwargs)


def generate_mlir(self, *args, **kwargs):
    note("trace")
    return _generate(self, *args, **kwargs)


Compiler.compile, CuTeDSL.generate_mlir = compile_, generate_mlir


def fresh(fn, args, kwargs, options):
    """What the DSL compiles without a cache, as object bytes."""
    compile_ = cute.compile[() if isinstance(options, str) or options is None else options]
    if isinstance(options, str):
        kwargs = {**kwargs, "options": options}
    made = objects.export(compile_(fn, *args, **kwargs), tvm_ffi="tvm" in str(options))
    return made.data


def jobs() -> None:
    """Compile the job of app by each key, from a cache each, and print what came of it."""
    import app

    answer = {}
    for key in ("source", "traced"):
        before = noted()
        cache = Cache(os.path.join(os.environ["JITCACHE_DIR"], key))
        fn, args, kwargs, options = app.job()
        result = cute_dsl.compile(fn, *args, **kwargs, options=options, cache=cache, key=key)
        after = noted()
        found = {what: after.count(what) - before.count(what) for what in ("trace", "compile")}
        # A refused function is traced. What an argument was turned into is no argument again.
        answer[key] = {**found, "hit": result.hit, "how": result.how, "reason": result.reason}
        answer[key]["object"] = hashlib.sha256(result.object).hexdigest()
    fn, args, kwargs, options = app.job()
    right = hashlib.sha256(fresh(fn, args, kwargs, options)).hexdigest()
    for found in answer.values():
        found["right"] = found.pop("object") == right
    print(json.dumps(answer))


def program(name: str) -> None:
    """Compile the job of a program by source, and print what came of it, beside a fresh compile's bytes."""
    import importlib

    module, _, job = name.partition(".")
    make = getattr(importlib.import_module(module), job or "job")
    before = noted()
    fn, args, kwargs, options = make()
    result = cute_dsl.compile(fn, *args, **kwargs, options=options, key="source")
    after = noted()
    answer = {what: after.count(what) - before.count(what) for what in ("trace", "compile")}
    answer |= {"hit": result.hit, "how": result.how, "reason": result.reason}
    fn, args, kwargs, options = make()
    answer["right"] = result.object == fresh(fn, args, kwargs, options)
    print(json.dumps(answer))


def without_labels(*prefixes: str) -> None:
    for module in (trace, source):
        module.Key = lambda components, key=module.Key: key(
            {n: v for n, v in components.items() if not n.startswith(prefixes)}
        )


def take_out(what: str) -> None:
    """Take a mechanism out; the test of its promise has to be red."""
    if what.startswith("label "):
        without_labels(what.removeprefix("label "))
    elif what == "walk":
        # Stops behind the first level.
        whole = walk.Walker._whole
        walk.Walker._whole = lambda self, f, *a: None if f.__module__ == "lib" else whole(self, f, *a)
    elif what == "look":
        walk.uses_computed_names = lambda *a: False
        visibility.is_pure = lambda name: True
        walk.global_names = lambda code: tuple(code.co_names)
    elif what == "started":  # what was imported is what is there by now
        tools.is_older_than_process = lambda found: True
    elif what == "annotations":
        described = walk.Walker._text

        def unannotated(self, function):
            said, function.__annotations__ = function.__annotations__, {}
            try:
                return described(self, function)
            finally:
                function.__annotations__ = said

        walk.Walker._text = unannotated
        without_labels("signature")
    elif what == "given":
        walk.given = lambda member: {}
    elif what == "set on":
        walk.DependencyWalker._set_on = lambda self, value, *kinds: None
    elif what == "proxy":
        walk.Walker.kinds[MappingProxyType] = walk.Walker._dict
    elif what == "told":
        walk.Walker._told = lambda self, cls: None
    elif what == "variables of types":
        put = walk.Walker._put
        walk.Walker.kinds[__import__("typing").TypeVar] = lambda self, value: put(self, "type variable")
    elif what == "contexts":
        visibility.is_pure = lambda name, whole=visibility.is_pure: name == "decimal" or whole(name)
    elif what == "hidden":
        visibility.hides_state = lambda cls: False
    elif what == "class":
        put = walk.Walker._put
        walk.Walker._put = lambda self, tag, data=b"": put(self, tag, b"" if tag == "class" else data)
    elif what == "lines":
        options_of = settings.options_of
        trace.options_of = lambda given: options_of(given)._replace(locations=False)
        source._LINES = __import__("re").compile("(?!)")
    elif what == "memory":  # what was remembered does not count
        walk.Memory.foreign = lambda self, before=None: []
    elif what == "learning":  # what was remembered in a trace counts as if it came from elsewhere
        learn = source.learn
        source.learn = lambda before, after: learn(before, after) and memory._known.clear() is None
    elif what == "runs":  # a function of which not all can be seen may have run
        source.learn = lambda before, after: True
        walk.Memory.foreign = lambda self, before=None: [
            item for i, item in self.items.items() if before is None or i in before.items
        ]
    elif what == "times":
        text.place_of = trace.place_of = os.path.abspath
    elif what == "changes":  # what a trace has remembered is what it was
        of = walk.Memory.of
        walk.Memory.of = lambda function, described, describe: of(function, described, lambda *item: b"")
    elif what == "references":
        walk.Walker._named = lambda self, text, space: None
    elif what == "variables":  # every name is that of a builtin
        text._looked_up = lambda node: set(text.TELLING)
    elif what == "prefixes":  # what a trace sets is a change
        walk.SETS_PREFIX = None
    elif what == "handles":
        objects.is_handle = lambda value: False
    elif what == "site":  # whatever lies below Python's library is Python's
        standard, (site, *_) = code._places()
        code._places = lambda: (standard, (site,))
    elif what == "edited":

        def imported(function):
            code = function.__dict__.get("_original_code") or function.__code__
            return text.Text(repr(walk.code_of(code)), code.co_names, ())

        walk.text_of = imported
    elif what == "unchanged":
        source.SourceLookup.store = lambda self, result: self._cache.put(
            self._key, result.object, attributes=self._job.attributes(source.objects.ObjectFile(result.object, None), "source", ""), kind="cute-dsl"
        )  # fmt: skip
    elif what == "lease":
        acquire = Cache.acquire

        def alone(self, key, timeout=None, *, kind="generic"):
            lease = acquire(self, key, 0, kind=kind)
            lease.guarded = True
            return lease

        Cache.acquire = alone
    elif what == "stop":
        # A hit goes on to compile.
        begin = trace.Trace.__init__
        trace.Trace.__init__ = lambda self, job, cache, **more: begin(self, job, cache, replace=True)
    elif what == "architecture":
        settings._has_device = lambda: True
    elif what == "lock":
        import contextlib

        trace.one_at_a_time = contextlib.nullcontext
    elif what == "names":
        objects._with_names = lambda found, *a: found
    else:
        sys.exit(f"instrument: nothing is called {what!r}")


if os.environ.get("VERSION"):
    cutlass.__version__ = os.environ["VERSION"]
if os.environ.get("PROCESSOR"):
    tools.processor = lambda: os.environ["PROCESSOR"]
if os.environ.get("BUILD"):
    content = tools.compiler
    tools.compiler = lambda *a: content(*a) + os.environ["BUILD"]
for mechanism in filter(None, os.environ.get("WITHOUT", "").split(",")):
    take_out(mechanism)
