"""The driver by its own functions, through ctypes: what a host does beside jitcache."""

from __future__ import annotations

import ctypes
from pathlib import Path


class Driver:
    """A libcuda, initialised. ``call`` raises what a function returns if that is not 0."""

    def __init__(self, path: Path | str) -> None:
        self.lib = ctypes.CDLL(str(path))
        self.call("cuInit", 0)

    def call(self, name: str, *args: object) -> None:
        """Call a function that returns a CUresult."""
        code = getattr(self.lib, name)(*args)
        if code != 0:
            raise RuntimeError(f"{name}: {code}")

    def push(self, device: int = 0) -> ctypes.c_void_p:
        """Make a context, which is then current."""
        context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
        return context

    def primary(self, device: int = 0) -> ctypes.c_void_p:
        """Make a device's primary context current, as the runtime does."""
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        return context

    def pop(self) -> None:
        """Make current what was before."""
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def destroy(self, context: ctypes.c_void_p) -> None:
        """Destroy a context, and all modules in it."""
        self.call("cuCtxDestroy_v2", context)
