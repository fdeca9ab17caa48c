"""Two GPU kernels, compiled by NVRTC: one without headers, one made of CUB's templates."""

from __future__ import annotations

import ctypes
from array import array
from typing import TYPE_CHECKING, Any

import driver
from jitcache import cuda
from job import Job, Wrong

if TYPE_CHECKING:
    import jitcache

_BLOCK = 256
_ITEMS = 4
_N = 100_003  # no multiple of anything: the last block is not full
_ELF, _EM_CUDA = b"\x7fELF", 190

_SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = a * x[i] + y[i];
}
"""

_BLOCK_SUMS = f"""
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>

extern "C" __global__ void block_sums(const float *in, float *out, int n)
{{
	using Load = cub::BlockLoad<float, {_BLOCK}, {_ITEMS}, cub::BLOCK_LOAD_TRANSPOSE>;
	using Reduce = cub::BlockReduce<float, {_BLOCK}>;
	__shared__ union {{
		typename Load::TempStorage load;
		typename Reduce::TempStorage reduce;
	}} shared;
	float items[{_ITEMS}];
	int first = blockIdx.x * {_BLOCK * _ITEMS};
	Load(shared.load).Load(in + first, items, n - first, 0.0f);
	__syncthreads();
	float sum = Reduce(shared.reduce).Sum(items);
	if (threadIdx.x == 0)
		out[blockIdx.x] = sum;
}}
"""


class _Kernel(Job):
    source: str
    options: tuple[str, ...] = ()

    def _include(self) -> list[str]:
        return []

    def _request(self) -> dict[str, Any]:
        # --no-cache: NVRTC has a cache of its own where there is a driver.
        options = [f"-arch=sm_{self.toolchain.arch}", "--no-cache", *self.options, *self._include()]
        return {"name": self.file_name, "options": options}

    def key(self) -> jitcache.Key:
        return cuda.key(self.source, **self._request())

    def obtain(self, cache: jitcache.Cache) -> Any:
        code = cuda.compile(self.source, cache=cache, **self._request())
        self.compiled = not code.hit
        return code

    def check(self, code: cuda.Code) -> str:
        if code.view[:4] != _ELF or int.from_bytes(code.view[18:20], "little") != _EM_CUDA:
            raise Wrong(f"{self.name}: not a cubin")
        if self.toolchain.no_launch:
            return "a cubin, not launched"
        with driver.Context() as gpu:
            self._launch(gpu, code.load().function(self.name))
        return "launched, right"

    def _launch(self, gpu: driver.Context, function: cuda.Function) -> None:
        raise NotImplementedError


class Saxpy(_Kernel):
    """out = a x + y."""

    name = "saxpy"
    title = "saxpy, CUDA"
    file_name = "saxpy.cu"
    source = _SAXPY

    def _launch(self, gpu: driver.Context, function: cuda.Function) -> None:
        # Small whole numbers: floats hold them exactly, so right means equal.
        x = array("f", (i % 17 for i in range(_N)))
        y = array("f", (i % 5 for i in range(_N)))
        out = array("f", bytes(4 * _N))
        args = [ctypes.c_float(2.0), x, y, out, ctypes.c_int(_N)]
        got = gpu.launch(function, -(-_N // _BLOCK), _BLOCK, args, 3)
        if got != array("f", (2 * (i % 17) + i % 5 for i in range(_N))):
            raise Wrong("saxpy: the GPU's result is not the CPU's")


class BlockSums(_Kernel):
    """The sum of each block of 1,024 numbers, by cub::BlockLoad and cub::BlockReduce."""

    name = "block_sums"
    title = "block_sums, CUDA with CUB"
    file_name = "block_sums.cu"
    source = _BLOCK_SUMS
    options = ("--std=c++17",)

    def _include(self) -> list[str]:
        folder = self.toolchain.cuda_include
        return [f"-I{folder}/cccl", f"-I{folder}"]

    def _launch(self, gpu: driver.Context, function: cuda.Function) -> None:
        data = array("f", (i % 7 for i in range(_N)))
        step = _BLOCK * _ITEMS
        blocks = -(-_N // step)
        args = [data, array("f", bytes(4 * blocks)), ctypes.c_int(_N)]
        got = gpu.launch(function, blocks, _BLOCK, args, 1)
        if got != array("f", (sum(data[i : i + step]) for i in range(0, _N, step))):
            raise Wrong("block_sums: the GPU's result is not the CPU's")
