"""Rows about cuda.core's programs: its own cache and ours, behind ``cache=`` and instead of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable

from rows_cuda import _sources, loaded_nvrtc
from runs import BenchError, Contender, Loop, Series
from workplace import Workplace

COUNT = 32


def _compile(cache: Any) -> Callable[[str], bytes]:
    """A whole warm call as its user writes it: options and Program made, code out."""
    from cuda.core import Program, ProgramOptions

    def hit(source: str) -> bytes:
        code: bytes = Program(source, "c++", ProgramOptions(arch="sm_80")).compile("cubin", cache=cache).code
        return code

    return hit


def _compile_program(cache: Any) -> Callable[[str], bytes]:
    from cuda.core import ProgramOptions
    from jitcache.adapters.cuda_core import compile_program

    def hit(source: str) -> bytes:
        code: bytes = compile_program(source, options=ProgramOptions(arch="sm_80"), cache=cache).code
        return code

    return hit


def _key(source: str) -> bytes:
    from cuda.core import ProgramOptions
    from cuda.core.utils import make_program_cache_key

    key: bytes = make_program_cache_key(
        code=source, code_type="c++", options=ProgramOptions(arch="sm_80"), target_type="cubin"
    )
    return key


def _caches(folder: Path) -> dict[str, Any]:
    """Both classes; with a cap so small that every hit of ours reads the file; and cuda.core's in memory only."""
    from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache
    from jitcache.adapters.cuda_core import ProgramCache

    return {
        "cuda_core": FileStreamProgramCache(folder / "cuda-core"),
        "cuda_core_capped": FileStreamProgramCache(folder / "cuda-core-capped", max_size_bytes=4_000_000),
        "program_cache": ProgramCache(folder / "ours"),
        "program_cache_capped": ProgramCache(folder / "ours-capped", max_size_bytes=4_000_000),
        "in_memory": InMemoryProgramCache(),
    }


def _counted(cache: Any) -> dict[str, Any]:
    cache.close()
    total: dict[str, Any] = cache.cache.stats()["total"]
    return total


def cuda_core_hit(w: Workplace) -> Iterator[Series]:
    """``Program.compile(cache=…)`` and ``compile_program``, whole, and the lookup alone."""
    import jitcache

    if loaded_nvrtc(w) is None:
        return
    try:
        caches = _caches(w.folder("cuda-core-hit"))
    except ImportError as e:
        w.notes.setdefault("not measured", {})["cuda_core_hit"] = str(e)
        return
    with ExitStack() as stack, jitcache.Cache(w.folder("cuda-core-program"), memory_size=0) as programs:
        for cache in caches.values():
            stack.callback(cache.close)
        calls = {name: _compile(cache) for name, cache in caches.items()}
        calls["compile_program"] = _compile_program(programs)
        for at in ("trivial", "64k"):
            sources = _sources(at, COUNT)
            for s in sources:
                if len({call(s) for call in calls.values()}) != 1:
                    raise BenchError("the caches' code differs")
            before = [_counted(caches[name]) for name in ("program_cache", "program_cache_capped")]
            loops = {name: Loop(call, sources, passes=4) for name, call in calls.items()}
            yield Series(at, [Contender(name, loop) for name, loop in loops.items()], w.scale.slow)
            if at == "trivial":
                keys = [_key(s) for s in sources]
                gets = {name: Loop(cache.get, keys, passes=20) for name, cache in caches.items()}
                yield Series("get", [Contender(name, loop) for name, loop in gets.items()], w.scale.slow)
            after = [_counted(caches[name]) for name in ("program_cache", "program_cache_capped")]
            for b, a in zip(before, after):
                if a["misses"] != b["misses"]:
                    raise BenchError("cuda.core: a lookup of ours missed")
