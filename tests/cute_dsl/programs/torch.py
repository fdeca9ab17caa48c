"""As much of torch as the programs ask for: tensors that name a device, and what the device is."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy

_CUDA = 2  # DLPack's number


class Tensor:
    """Memory of the host's that says of itself that it is a device's: it is compiled for, and never read."""

    def __init__(self, data: numpy.ndarray) -> None:
        self._data = data

    def __dlpack__(self, stream: object = None) -> object:
        capsule = self._data.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        ctypes.c_int.from_address(get(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)).value = _CUDA
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, 0


def empty(*shape: int, dtype: str = "f4") -> Tensor:
    space = numpy.zeros(int(numpy.prod(shape)) * 8 + 256, dtype="u1")
    start = -space.ctypes.data % 256
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    return Tensor(space[start : start + size].view(dtype).reshape(shape))


def _properties(device: object = None) -> SimpleNamespace:
    return SimpleNamespace(major=9, minor=0)


cuda = SimpleNamespace(is_available=lambda: True, get_device_properties=_properties)
