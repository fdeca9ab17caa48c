"""Rows about CUDA: from a source to the bytes of its cubin."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Callable

from runs import BenchError, Calls, Contender, Loop, Series
from workplace import Workplace, check_rise

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from areas import cuda as area

ARCH = "-arch=sm_80"
HEAP = 1 << 30  # for precompiled headers; with the default of 256 MiB CUB does not fit

TRIVIAL = 'extern "C" __global__ void k%d(float *x) { x[threadIdx.x] *= 2; }\n'
FILLER = "__device__ inline float f%d(float x) { return x * %d.0f + 1.0f; } // a line of a larger kernel\n"
CUB = """#include <cub/block/block_reduce.cuh>
template <class T> __global__ void sum(const T *in, T *out) {
    using Reduce = cub::BlockReduce<T, 128>;
    __shared__ typename Reduce::TempStorage temp;
    T s = Reduce(temp).Sum(in[threadIdx.x]);
    if (threadIdx.x == 0) *out = s;
}
"""


def _sources(at: str, count: int) -> list[str]:
    sources = [TRIVIAL % i for i in range(count)]
    if at == "64k":
        sources = [s + "".join(FILLER % (j, j) for j in range(720)) for s in sources]
    return sources


class Nvrtc:
    """NVRTC itself, through ctypes."""

    def __init__(self, path: Path) -> None:
        self._lib = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self.path = path
        self.include = path.parent.parent / "include"

    def heap(self, size: int) -> None:
        """Set how large a precompiled header may be."""
        self._call("nvrtcSetPCHHeapSize", ctypes.c_size_t(size))

    def compile(self, source: str, options: list[str]) -> bytes:
        """Compile to a cubin."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
        texts = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        self._call("nvrtcCompileProgram", program, len(options), texts)
        self._call("nvrtcGetCUBINSize", program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        self._call("nvrtcGetCUBIN", program, code)
        self._call("nvrtcDestroyProgram", ctypes.byref(program))
        return code.raw

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self._lib, name)(*args)
        if status != 0:
            raise BenchError(f"{name}: {status}")


def _once(function: Callable[[], Any]) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter_ns()
        function()
        return (time.perf_counter_ns() - start) / 1e3

    return run


def loaded_nvrtc(w: Workplace) -> Nvrtc | None:
    """Install NVRTC and load it, so that cuda.core finds it too; None if it cannot be had."""
    folder = area.wheels("bench", "13")
    if folder is None:
        w.notes["not measured"]["nvrtc"] = "its wheel cannot be had"
        return None
    return Nvrtc(folder / "nvidia/cu13/lib/libnvrtc.so.13")


def _cuda_core(folder: Path) -> Callable[[str], bytes] | None:
    try:
        from cuda.core import Program, ProgramOptions
        from cuda.core.utils import FileStreamProgramCache
    except ImportError:
        return None
    cache = FileStreamProgramCache(folder)

    def hit(source: str) -> bytes:
        code: bytes = Program(source, "c++", ProgramOptions(arch="sm_80")).compile("cubin", cache=cache).code
        return code

    return hit


def cuda_hit(w: Workplace) -> Iterator[Series]:
    """A warm call, whole: source and options in, bytes out."""
    import jitcache
    from jitcache import cuda

    nvrtc = loaded_nvrtc(w)
    if nvrtc is None:
        return
    rival = _cuda_core(w.folder("cuda-core"))
    if rival is None:
        w.notes["not measured"]["cuda_core"] = "cuda.core cannot be imported"
    with jitcache.Cache(w.folder("cuda"), memory_size=0) as cache:

        def hit(source: str) -> bytes:
            return cuda.compile(source, options=[ARCH], cache=cache).code

        def first(source: str) -> bytes:
            cuda._made.requests.clear()
            return hit(source)

        for at in ("trivial", "64k"):
            sources = _sources(at, 32)
            for s in sources:
                if rival is not None and rival(s) != hit(s):
                    raise BenchError("cuda.core compiles to something else")
                hit(s)
            before = cache.stats()["total"]
            again, new = Loop(hit, sources, passes=8), Loop(first, sources)
            compiled = _once(partial(nvrtc.compile, sources[0], [ARCH, "--no-cache"]))
            contenders = [
                Contender("nvrtc", compiled), Contender("jitcache", again), Contender("jitcache_first", new),
                *([Contender("cuda_core", Loop(rival, sources))] if rival is not None else []),
            ]  # fmt: skip
            yield Series(at, contenders, w.scale.slow)
            cache.flush()
            check_rise(f"cuda hit, {at}", before, cache.stats()["total"], hits_disk=again.ops + new.ops, misses=0)


def cuda_cub(w: Workplace) -> Iterator[Series]:
    """A kernel that includes CUB: 444 headers."""
    import jitcache
    from jitcache import cuda

    nvrtc = loaded_nvrtc(w)
    if nvrtc is None:
        return
    options = [ARCH, f"-I{nvrtc.include / 'cccl'}", f"-I{nvrtc.include}"]
    with jitcache.Cache(w.folder("cuda-cub"), memory_size=0) as cache:

        def hit() -> bytes:
            return cuda.compile(CUB, options=options, name_expressions=["sum<float>"], cache=cache).code

        hit()
        nvrtc.heap(HEAP)
        pch = w.folder("cuda-pch") / "cub.pch"
        nvrtc.compile(CUB, [*options, "--no-cache", f"--create-pch={pch}"])
        contenders = [
            Contender("jitcache", Calls(hit, 50)),
            Contender("nvrtc", _once(lambda: nvrtc.compile(CUB, [*options, "--no-cache"]))),
            Contender("nvrtc_pch", _once(lambda: nvrtc.compile(CUB, [*options, "--no-cache", f"--use-pch={pch}"]))),
        ]
        yield Series("cub", contenders, min(w.scale.slow, 7))
