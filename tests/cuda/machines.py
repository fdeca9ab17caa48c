"""A device and its driver: memory, launches, and what came of them.

The driver that stands in for one launches nothing; on it, every expectation is met.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devices import Driver
from jitcache import cuda

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPUTE_CAPABILITY = (75, 76)  # cuDeviceGetAttribute's numbers of major and minor


class Machine(Driver):
    """A driver, with a context that is current in this thread."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(path)
        self.launches = hasattr(self.lib, "cuLaunchKernel")
        self.context = self.primary()

    def number(self, call: str, *args: object) -> int:
        """Ask the driver for a number."""
        number = ctypes.c_int()
        self.call(call, ctypes.byref(number), *args)
        return number.value

    @property
    def version(self) -> int:
        """The CUDA version of the driver, 13000 for 13.0."""
        return self.number("cuDriverGetVersion")

    @property
    def capability(self) -> int:
        """The first device's, 90 for sm_90."""
        major, minor = (self.number("cuDeviceGetAttribute", which, 0) for which in COMPUTE_CAPABILITY)
        return 10 * major + minor

    def put(self, kind: Any, values: Sequence[float]) -> ctypes.c_uint64:
        """Copy values to new memory on the device; return its address."""
        address = ctypes.c_uint64()
        if self.launches:
            data = (kind * len(values))(*values)
            self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(ctypes.sizeof(data)))
            self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(ctypes.sizeof(data)))
        return address

    def launch(self, function: cuda.Function, threads: int, *args: Any) -> None:
        """Launch a block of threads, and wait for it."""
        if not self.launches:
            return
        pointers = (ctypes.c_void_p * len(args))(*(ctypes.addressof(a) for a in args))
        handle = ctypes.c_void_p(int(function))
        self.call("cuLaunchKernel", handle, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")

    def expect(self, kind: Any, address: ctypes.c_uint64, want: Sequence[float]) -> None:
        """Compare what is at an address with what is to be there, and free it."""
        if not self.launches:
            return
        data = (kind * len(want))()
        self.call("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(ctypes.sizeof(data)))
        self.call("cuMemFree_v2", address)
        assert list(data) == list(want)


N = 256

SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, float *y)
{
    y[threadIdx.x] += a * x[threadIdx.x];
}
"""


def saxpy(machine: Machine, function: cuda.Function) -> None:
    """Launch SAXPY and look at the result."""
    x, y = (machine.put(ctypes.c_float, [f(i) for i in range(N)]) for f in (lambda i: i, lambda i: 1))
    machine.launch(function, N, ctypes.c_float(2), x, y)
    machine.expect(ctypes.c_float, y, [2 * i + 1 for i in range(N)])


FILL = """
extern "C" __global__ void fill(int *p)
{
    p[threadIdx.x] = VALUE + threadIdx.x;
}
"""


def fill(machine: Machine, function: cuda.Function, value: int) -> None:
    """Launch FILL and look at the result."""
    p = machine.put(ctypes.c_int, [0] * N)
    machine.launch(function, N, p)
    machine.expect(ctypes.c_int, p, [value + i for i in range(N)])
