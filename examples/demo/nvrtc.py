"""NVRTC, NVIDIA's compiler for CUDA C++ source at run time, through ctypes.

Only what the demo needs: source in, cubin out. It knows nothing of any cache.
NVRTC needs no GPU and no driver.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import witness

if TYPE_CHECKING:
    from pathlib import Path

_SUCCESS = 0
_COMPILATION = 6  # NVRTC_ERROR_COMPILATION: the source is wrong, and the log says where


class NvrtcError(Exception):
    """NVRTC refused; the text holds its log."""


class Nvrtc:
    """A loaded libnvrtc."""

    def __init__(self, path: str) -> None:
        # It finds libnvrtc-builtins by its own RUNPATH, beside itself.
        self._lib = ctypes.CDLL(path)
        self._lib.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _check(self, status: int, log: str = "") -> None:
        if status != _SUCCESS:
            text = self._lib.nvrtcGetErrorString(status).decode()
            raise NvrtcError(f"NVRTC: {text}{chr(10) if log else ''}{log}")

    def version(self) -> str:
        """Return major and minor version, "13.5"."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(self._lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        return f"{major.value}.{minor.value}"

    def architectures(self) -> list[int]:
        """Return what it can compile for: 90 for sm_90."""
        n = ctypes.c_int()
        self._check(self._lib.nvrtcGetNumSupportedArchs(ctypes.byref(n)))
        archs = (ctypes.c_int * n.value)()
        self._check(self._lib.nvrtcGetSupportedArchs(archs))
        return list(archs)

    def compile(self, source: str, file_name: str, options: list[str], witness_file: Path) -> bytes:
        """Compile CUDA C++ to a cubin. Raises NvrtcError with the compiler's log."""
        program = ctypes.c_void_p()
        status = self._lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), file_name.encode(), 0, None, None)
        self._check(status)
        try:
            argv = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
            # Between this line and the compiler there is nothing: what the demo
            # says about compiles is counted here, not by the cache.
            witness.note(witness_file, f"nvrtcCompileProgram {file_name}")
            status = self._lib.nvrtcCompileProgram(program, len(options), argv)
            self._check(status, self._log(program) if status == _COMPILATION else "")
            return self._text(program, "CUBIN")
        finally:
            self._lib.nvrtcDestroyProgram(ctypes.byref(program))

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(getattr(self._lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._lib, f"nvrtcGet{what}")(program, buffer))
        return buffer.raw

    def _log(self, program: ctypes.c_void_p) -> str:
        return self._text(program, "ProgramLog").rstrip(b"\x00").decode(errors="replace")
