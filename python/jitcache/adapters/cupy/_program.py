"""Programs: CuPy's interface to a program of NVRTC's, with a lookup before the compile."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
from typing import TYPE_CHECKING, Any

from cupy.cuda import compiler

from jitcache import CompileError, Error
from jitcache.cuda import Wish, code_of

from . import KIND, _cache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitcache import Cache

#: Targets of NVRTC, by CuPy's names for them.
_TARGETS = {"cubin": "cubin", "ptx": "ptx", "lto": "ltoir"}

#: The folder of a source for NVRTC: CuPy writes each source to an empty folder with a random name.
_FOLDER = "/cupy"

_KERNEL = re.compile(r"__global__[^(){;]*?(?:__launch_bounds__\s*\([^()]*\)[^(){;]*?)?(\w+)\s*\(")


class LeftError(Exception):
    """CuPy itself must compile a kernel and keep it; the text says why."""


class Program:
    """A program that CuPy compiles: its code comes from the cache, or from a compile that is observed."""

    def __init__(
        self,
        cache: Cache,
        *,
        src: str | bytes,
        name: str | bytes,
        headers: Sequence[Any],
        include_names: Sequence[Any],
        name_expressions: Sequence[str] | None,
        method: str,
    ) -> None:
        if headers or include_names:
            raise LeftError("headers in memory")
        self._cache = cache
        self.src = src.decode() if isinstance(src, bytes) else src
        self.name = name
        self.name_expressions = name_expressions
        self.method = method

    def compile(self, options: tuple[str, ...] = (), log_stream: Any = None) -> tuple[bytes, dict[str, str] | None]:
        """Return the code, and the name of each name expression. Raises CuPy's CompileException, and LeftError."""
        if self.method not in _TARGETS:
            raise LeftError(self.method)
        if self.method != "lto" and compiler._is_cudadevrt_needed(options):
            raise LeftError("relocatable device code")  # CuPy links it, and keeps the linked code
        if "--pch" in options:
            raise LeftError("precompiled headers")
        expressions = tuple(self.name_expressions or ())
        name = _name_of(self.src, options, expressions)
        wish = Wish(self.src, name, tuple(options), _TARGETS[self.method], expressions, (), _nvrtc(), KIND)
        try:
            code = code_of(wish, self._cache)
        except CompileError as e:
            raise compiler.CompileException(e.log, self.src, self.name, options, "nvrtc") from None
        except Error as e:
            raise LeftError(type(e).__name__) from e
        if code.refused:
            _cache.reasons[code.refused] += 1
        if log_stream is not None:
            log_stream.write(code.log)
        lowered = code.lowered_names
        return code.code, {e: lowered[e] for e in expressions} or None


def _name_of(source: str, options: Sequence[str], expressions: Sequence[str]) -> str:
    """Return the name of a source for NVRTC: the name of its first kernel, and a digest, as in CuPy.

    NVRTC derives the names of internal symbols from it. They must differ between sources that are linked together.
    """
    found = _KERNEL.search(source)
    digest = hashlib.sha256(repr((source, options, expressions)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_FOLDER}/{found[1] if found else 'kernel'}-{digest[:16]}.cu"


@functools.lru_cache(maxsize=1)
def _nvrtc() -> str:
    """Return the file of the NVRTC that CuPy uses. Raises LeftError if it is not known."""
    soname = f"libnvrtc.so.{compiler._get_nvrtc_version()[0]}"
    try:
        loaded = ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        address = ctypes.cast(loaded.nvrtcVersion, ctypes.c_void_p).value or 0
        path = _file_at(address)
    except (OSError, AttributeError):
        path = ""
    if not os.path.exists(path):
        raise LeftError(soname)
    return path


def _file_at(address: int) -> str:
    """Return the file that is mapped at an address, "" if none is."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            place, _, rest = line.partition(" ")
            begin, end = (int(part, 16) for part in place.split("-"))
            if begin <= address < end and "/" in rest:
                return rest[rest.index("/") :].rstrip("\n")
    return ""
