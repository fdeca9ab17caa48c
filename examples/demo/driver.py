"""The NVIDIA driver, through ctypes: a context, and launching a kernel in it.

``probe`` says in a line why no kernel can be launched; without a GPU nothing else of
this module is used.
"""

from __future__ import annotations

import ctypes
from array import array
from typing import Any, NamedTuple, SupportsInt

_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR


class DriverError(Exception):
    """A call of the driver failed."""


class Device(NamedTuple):
    """The first GPU of the machine."""

    name: str
    capability: int  # 90 for sm_90
    driver: int  # 13000 for a driver that knows CUDA 13.0


def _load() -> ctypes.CDLL:
    lib = ctypes.CDLL("libcuda.so.1")
    lib.cuGetErrorName.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    # Device addresses have 64 bits; ctypes would pass Python's ints as 32.
    lib.cuMemcpyHtoD_v2.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
    lib.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]
    lib.cuMemAlloc_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
    lib.cuMemFree_v2.argtypes = [ctypes.c_uint64]
    lib.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
    return lib


def _check(lib: ctypes.CDLL, function: str, *args: Any) -> None:
    status = getattr(lib, function)(*args)
    if status != 0:
        name = ctypes.c_char_p()
        lib.cuGetErrorName(status, ctypes.byref(name))
        raise DriverError(f"{function}: {(name.value or b'error %d' % status).decode()}")


def probe() -> tuple[Device | None, str]:
    """Return the first GPU and "", or None and why it cannot be used."""
    try:
        lib = _load()
        _check(lib, "cuInit", 0)
        n, version = ctypes.c_int(), ctypes.c_int()
        _check(lib, "cuDeviceGetCount", ctypes.byref(n))
        if n.value == 0:
            return None, "no GPU"
        _check(lib, "cuDriverGetVersion", ctypes.byref(version))
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        _check(lib, "cuDeviceGet", ctypes.byref(device), 0)
        _check(lib, "cuDeviceGetAttribute", ctypes.byref(major), _MAJOR, device)
        _check(lib, "cuDeviceGetAttribute", ctypes.byref(minor), _MINOR, device)
        name = ctypes.create_string_buffer(256)
        _check(lib, "cuDeviceGetName", name, len(name), device)
    except OSError:
        return None, "no GPU"  # and no driver
    except (DriverError, AttributeError) as e:
        return None, f"no usable GPU ({e})"
    return Device(name.value.decode(), major.value * 10 + minor.value, version.value), ""


class Context:
    """The first GPU, current in this thread. Use it in ``with``."""

    def __init__(self) -> None:
        self._lib = _load()
        self._device = ctypes.c_int()
        context = ctypes.c_void_p()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxSetCurrent", context)

    def _call(self, function: str, *args: Any) -> None:
        _check(self._lib, function, *args)

    def launch(self, function: SupportsInt, grid: int, block: int, args: list[Any], out: int) -> array[float]:
        """Launch a kernel and return ``args[out]`` as it is afterwards.

        An array of the arguments is copied to the GPU; the others are ctypes
        scalars.
        """
        addresses: dict[int, ctypes.c_uint64] = {}
        try:
            for i, arg in enumerate(args):
                if isinstance(arg, array):
                    addresses[i] = self._copy_in(arg)
            slots = [addresses.get(i, arg) for i, arg in enumerate(args)]
            pointers = (ctypes.c_void_p * len(slots))(*[ctypes.addressof(s) for s in slots])
            self._call("cuLaunchKernel", int(function), grid, 1, 1, block, 1, 1, 0, None, pointers, None)
            self._call("cuCtxSynchronize")
            result = array("f", args[out])
            start, n = result.buffer_info()
            self._call("cuMemcpyDtoH_v2", start, addresses[out], n * result.itemsize)
            return result
        finally:
            for address in addresses.values():
                self._lib.cuMemFree_v2(address)

    def _copy_in(self, data: array[float]) -> ctypes.c_uint64:
        start, n = data.buffer_info()
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), n * data.itemsize)
        self._call("cuMemcpyHtoD_v2", address, start, n * data.itemsize)
        return address

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self._lib.cuDevicePrimaryCtxRelease_v2(self._device)
