"""On a GPU: what was compiled, or found, is launched, and its results are compared.

All of it runs on the driver that stands in for one too, up to the launch.
"""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path
from typing import Callable

import jitcache
import pytest
from conftest import LIBCUDA, NVRTC, use, wheels
from jitcache import cuda
from machines import FILL, SAXPY, Machine, fill, saxpy
from processes import check

# What each NVRTC needs of the driver.
VERSIONS = {"13": 13050, "12": 12090}

STANDINS = ["stub", pytest.param("12", marks=pytest.mark.nvrtc), pytest.param("13", marks=pytest.mark.nvrtc)]
ALL = [*STANDINS, pytest.param("gpu", marks=pytest.mark.gpu)]


def supports(path: Path, capability: int) -> bool:
    """Say whether an NVRTC compiles for a device."""
    lib, n = ctypes.CDLL(str(path)), ctypes.c_int()
    assert lib.nvrtcGetNumSupportedArchs(ctypes.byref(n)) == 0
    archs = (ctypes.c_int * n.value)()
    assert lib.nvrtcGetSupportedArchs(archs) == 0
    return capability in archs


def newest(machine: Machine) -> str:
    """Return the newest NVRTC whose code this driver and this device take."""
    for name, version in VERSIONS.items():
        if version // 1000 <= machine.version // 1000 and supports(wheels(name) / NVRTC[name], machine.capability):
            return name
    raise AssertionError(f"no NVRTC for driver {machine.version} and sm_{machine.capability}")


@pytest.fixture
def machine(
    request: pytest.FixtureRequest, built: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Machine:
    """A device, or what stands in for one; ``compiler`` is the NVRTC for it."""
    name = request.param
    if name == "gpu":
        machine = Machine(LIBCUDA)
        name = newest(machine)
    else:
        monkeypatch.setenv("FAKECUDA_CC", "90")
        machine = Machine(request.getfixturevalue("driver_file"))
    machine.compiler = use(monkeypatch, name, built(name))
    return machine


on_all = pytest.mark.parametrize("machine", ALL, indirect=True)
on_real_compilers = pytest.mark.parametrize("machine", ALL[1:], indirect=True)


@on_all
def test_result_of_a_launch(machine: Machine, cache: jitcache.Cache) -> None:
    """No architecture is given: it is the device's."""
    for n in range(2):
        code = cuda.compile(SAXPY, cache=cache)
        assert (code.hit, code.arch) == (n == 1, f"sm_{machine.capability}")
        saxpy(machine, code.load().function("saxpy"))
    assert machine.compiler.compiles == 1


ANOTHER = """
    import sys, jitcache
    from jitcache import cuda
    from machines import SAXPY, Machine, saxpy
    machine = Machine(sys.argv[1])
    code = cuda.compile(SAXPY, cache=jitcache.Cache(sys.argv[2]))
    saxpy(machine, code.load().function("saxpy"))
    print("hit" if code.hit else "miss", "libnvrtc" in open("/proc/self/maps").read())
"""


@on_all
def test_another_process_launches_what_one_compiled(machine: Machine, tmp_path: Path) -> None:
    path = os.environ.get("JITCACHE_LIBCUDA", LIBCUDA)
    assert check(ANOTHER, path, tmp_path / "cache") == "miss False\n"
    assert check(ANOTHER, path, tmp_path / "cache") == "hit False\n"
    assert machine.compiler.compiles == 1


AXPY = """
template <typename T> __global__ void axpy(T a, const T *x, T *y)
{
    y[threadIdx.x] += a * x[threadIdx.x];
}
"""


@on_all
def test_name_expressions_are_launched(machine: Machine, cache: jitcache.Cache) -> None:
    kinds = {"axpy<float>": ctypes.c_float, "axpy<double>": ctypes.c_double, "axpy<int>": ctypes.c_int}
    for _ in range(2):
        module = cuda.compile(AXPY, name_expressions=list(kinds), cache=cache).load()
        for name, kind in kinds.items():
            x, y = machine.put(kind, range(64)), machine.put(kind, [5] * 64)
            machine.launch(module.function(name), 64, kind(3), x, y)
            machine.expect(kind, y, [3 * i + 5 for i in range(64)])


SUM = """
#include <cub/block/block_reduce.cuh>

template <typename T> __global__ void sum(const T *in, T *out)
{
    using Reduce = cub::BlockReduce<T, 128>;
    __shared__ typename Reduce::TempStorage scratch;
    T total = Reduce(scratch).Sum(in[threadIdx.x]);
    if (threadIdx.x == 0)
        *out = total;
}
"""


def headers(name: str) -> list[str]:
    """Where NVIDIA's wheels have the headers of CUB and of CUDA."""
    folders = ("cu13/include/cccl", "cu13/include", "cuda_cccl/include", "cuda_runtime/include")
    return [f"-I{f}" for f in (wheels(name) / "nvidia" / folder for folder in folders) if f.is_dir()]


@on_real_compilers
def test_cub_kernel_is_launched(machine: Machine, cache: jitcache.Cache) -> None:
    for n in range(2):
        code = cuda.compile(SUM, options=headers(machine.compiler.name), name_expressions=["sum<int>"], cache=cache)
        assert code.hit == (n == 1)
        numbers, total = machine.put(ctypes.c_int, range(128)), machine.put(ctypes.c_int, [0])
        machine.launch(code.load().function("sum<int>"), 128, numbers, total)
        machine.expect(ctypes.c_int, total, [128 * 127 // 2])
    assert machine.compiler.compiles == 1


@on_all
def test_edited_header_is_launched(machine: Machine, cache: jitcache.Cache, tmp_path: Path) -> None:
    header, hits = tmp_path / "value.h", []
    for value in (1, 2, 1, 1):
        header.write_text(f"#define VALUE {value}\n")
        code = cuda.compile("#include <value.h>\n" + FILL, options=[f"-I{tmp_path}"], cache=cache)
        fill(machine, code.load().function("fill"), value)
        hits.append(code.hit)
    assert hits == [False, False, True, True]


@on_all
def test_ptx_is_launched_unless_the_driver_is_older(machine: Machine, cache: jitcache.Cache) -> None:
    for _ in range(2):
        code = cuda.compile(SAXPY, target="ptx", cache=cache)
        try:
            saxpy(machine, code.load().function("saxpy"))
        except jitcache.DriverError as e:
            assert "UNSUPPORTED_PTX_VERSION" in str(e)
            assert machine.version < VERSIONS[machine.compiler.name]


@on_all
def test_each_context_launches(machine: Machine, cache: jitcache.Cache) -> None:
    code = cuda.compile(SAXPY, cache=cache)
    first = code.load()
    saxpy(machine, first.function("saxpy"))
    context = machine.push()
    second = code.load()
    assert int(first) != int(second)
    saxpy(machine, second.function("saxpy"))
    machine.destroy(context)
    del second  # with its context gone, that is nothing
    gc.collect()
    machine.call("cuCtxSetCurrent", machine.context)
    saxpy(machine, code.load().function("saxpy"))
    assert int(code.load()) == int(first)


@on_all
def test_bad_code_is_compiled_again_and_launched(machine: Machine, cache: jitcache.Cache) -> None:
    good = cuda.compile(SAXPY, cache=cache)
    key = cuda.key(SAXPY, cache=cache)
    flipped = bytearray(good.code)
    flipped[18] ^= 0xFF  # what machine it is for
    for bad in (b"no cubin at all", good.code[: len(good) // 2], bytes(flipped)):
        assert cache.put(key, bad, kind="cubin", replace=True)
        code = cuda.compile(SAXPY, cache=cache)
        assert code.code == bad
        saxpy(machine, code.load().function("saxpy"))
        assert cuda.compile(SAXPY, cache=cache).code == good.code
    assert machine.compiler.compiles == 4


@on_all
def test_code_for_another_device_is_reported(machine: Machine, cache: jitcache.Cache) -> None:
    other = "sm_75" if machine.capability >= 80 else "sm_80"
    for _ in range(2):
        with pytest.raises(jitcache.DriverError, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
            cuda.compile(SAXPY, options=[f"-arch={other}"], cache=cache).load()
    saxpy(machine, cuda.compile(SAXPY, cache=cache).load().function("saxpy"))


@on_all
def test_module_that_was_unloaded_is_loaded_again(machine: Machine, cache: jitcache.Cache) -> None:
    for _ in range(3):
        saxpy(machine, cuda.compile(SAXPY, cache=cache).load().function("saxpy"))
        gc.collect()
    assert machine.compiler.compiles == 1


@on_all
def test_module_is_one_of_the_driver(machine: Machine, cache: jitcache.Cache) -> None:
    """int() gives what the driver's own functions take."""
    module = cuda.compile(SAXPY, cache=cache).load()
    found = ctypes.c_void_p()
    machine.call("cuModuleGetFunction", ctypes.byref(found), ctypes.c_void_p(int(module)), b"saxpy")
    assert found.value == int(module.function("saxpy"))
