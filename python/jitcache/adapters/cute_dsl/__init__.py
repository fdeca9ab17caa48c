"""CuTe DSL's compiled functions in a jitcache.

    from jitcache.adapters import cute_dsl

    compiled = cute_dsl.compile(function, *args)

This replaces ``cute.compile``, which compiles each time. With ``key="source"`` a hit
does not even trace. ``docs/cute_dsl.md`` says what is in a key and what is not
cached. Importing this module does not import CuTe DSL.

The attributes of an entry are the function, its file and line when it was compiled, the
route, the architecture, and the kind of its key. The logger ``jitcache`` logs at level
INFO each function that ``uncached`` counts.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal

from jitcache import default_cache
from jitcache.adapters._frame import AdapterFrame

from ._result import Compiled

if TYPE_CHECKING:
    from jitcache import Cache

    from ._trace import Job

__all__ = ["KIND", "Compiled", "clear", "compile", "count", "entries", "uncached"]

#: The kind of the entries.
KIND = "cute-dsl"

#: The kind of the entries that hold the digest of an installation, by the time stamps of its files.
FILES = "_cute-dsl-files"

# Keyword arguments that the DSL takes for itself if the function has no such parameter, and that change what a compile
# does. A compile with one of them is not cached.
_CONTROLS = (
    "compile_only", "compile_to_precompiled_mlir", "export_name", "gpu_module_attrs", "no_cache", "no_jit_engine",
    "pipeline",
)  # fmt: skip

_cache = AdapterFrame(KIND, "CuTe DSL", __name__, (FILES,))
uncached = _cache.uncached
entries = _cache.entries
count = _cache.count
clear = _cache.clear


def compile(  # noqa: A001 - the DSL's name
    function: Any,
    *args: Any,
    options: Any = None,
    cache: Cache | Literal[False] | None = None,
    key: Literal["traced", "source"] = "traced",
    trace_finalize_hooks: Any = (),
    **kwargs: Any,
) -> Compiled:
    """Compile a ``@cute.jit`` function for arguments, or load what was compiled before.

    ``args``, ``kwargs``, ``options``, ``trace_finalize_hooks``: as for ``cute.compile``;
    options that are not text as for ``cute.compile[options]``. ``cache``: which cache,
    None for ``jitcache.default_cache()``, False for no cache. ``key``: ``"traced"``
    traces the function, and compiles if there is no entry for the traced module;
    ``"source"`` looks up the function's source and everything that it reaches, and
    traces only if there is no entry for these, or if not all of it can be seen (then
    ``reason`` of the result says why).

    Several threads may call this; one at a time traces and compiles, as the DSL
    requires. Of the processes that ask for the same, one compiles. What cannot be
    cached is compiled as without a cache, and ``uncached`` counts it.

    Raises what ``cute.compile`` raises; ImportError without CuTe DSL; ValueError
    for another ``key``.
    """
    if key not in ("traced", "source"):
        raise ValueError(f"key {key!r}: want 'traced' or 'source'")
    from jitcache._code import Unkeyable

    from ._arguments import function_and_receiver
    from ._trace import Job

    hooks = (trace_finalize_hooks,) if callable(trace_finalize_hooks) else tuple(trace_finalize_hooks or ())
    job = Job(function, function, (), args, kwargs, options, hooks)
    try:
        behind, receiver = function_and_receiver(function)
        job = job._replace(function=behind, receiver=receiver)
        if cache is False:
            raise Unkeyable("no cache")
        if not _has_hooks():
            raise Unkeyable("too old", "trace_finalize_hooks came with 4.6")
        for name in _CONTROLS:
            if name in kwargs:
                raise Unkeyable("compile control", name)
    except Unkeyable as e:
        return _plain(job, e)
    return _cached(job, default_cache() if cache is None else cache, key)


def _has_hooks() -> bool:
    import cutlass

    numbers = str(cutlass.__version__).split(".")[:2]
    return not all(n.isdigit() for n in numbers) or tuple(map(int, numbers)) >= (4, 6)


def _refuse(job: Job, reason: str, why: object) -> str:
    _cache.reasons[reason] += 1
    name = getattr(job.function, "__qualname__", type(job.function).__qualname__)
    logging.getLogger("jitcache").info("cute-dsl: %s is not cached: %s", name, why)
    return reason


def _plain(job: Job, why: Any) -> Compiled:
    """Compile without a cache."""
    reason = _refuse(job, why.reason, why)
    result = job.compile()
    return Compiled(result, result, None, "", reason, hit=False)


def _cached(job: Job, cache: Cache, key: str) -> Compiled:
    reason = ""
    if key == "source":
        from ._source import SourceLookup

        source = SourceLookup(job, cache)
        found = source.find()
        if found is not None:
            return found
        try:
            result = _traced(job, cache, source.reason, leased=source.leased)
            source.store(result)
        finally:
            source.end()
        return result
    return _traced(job, cache, reason)


def _traced(job: Job, cache: Cache, reason: str, *, replace: bool = False, leased: bool = False) -> Compiled:
    from jitcache._code import Unkeyable

    from . import _object as objects
    from ._trace import Trace

    trace = Trace(job, cache, replace=replace, leased=leased)
    trace.run()
    try:
        if trace.made is not None:
            try:
                return Compiled(*job.load(trace.made), trace.made, "traced", reason, hit=True)
            except Exception as e:  # noqa: BLE001 - the entry is intact, but this process cannot use it
                trace.end()
                _refuse(job, "entry cannot be loaded", e)
                return _traced(job, cache, reason, replace=True, leased=leased)
        if trace.refused is not None:
            raise trace.refused
        try:
            made = objects.export(trace.result, tvm_ffi=trace.tvm_ffi)
            function, call = job.load(made)
        except Unkeyable:
            raise
        except Exception as e:
            raise Unkeyable("cannot be loaded", e) from e
        why = trace.commit(made)
        if why:
            _refuse(job, why, why)
        return Compiled(function, call, made, "" if why else "traced", why or reason, hit=False)
    except Unkeyable as e:
        return Compiled(trace.result, trace.result, None, "", _refuse(job, e.reason, e), hit=False)
    finally:
        trace.end()
