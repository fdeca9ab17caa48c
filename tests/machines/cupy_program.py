"""Kernels of CuPy's from a jitcache, in a process whose folder of CuPy's is empty; it says how often NVRTC was asked.

What a GPU would say is made up, by the stand-in of CuPy's own tests.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cupy"))
_WHEELS = Path(next(iter(find_spec("nvidia").submodule_search_locations or ())))  # type: ignore[union-attr]
ctypes.CDLL(str(_WHEELS / "cuda_nvrtc/lib/libnvrtc.so.12"), mode=ctypes.RTLD_GLOBAL)

import instrument  # noqa: F401  in a GPU's place
import jitcache.adapters.cupy
from cupy._core.core import compile_with_cache
from jitcache import cuda

K = 'extern "C" __global__ void k(int *p) { *p = 1; }'
C = 'extern "C" __global__ void c(complex<float> *p) { *p += complex<float>(2); }'


def main() -> None:
    asked: list[object] = []

    def counted(original: object) -> object:
        def call(*args: object) -> object:
            asked.append(original)
            return original(*args)  # type: ignore[operator]

        return call

    cuda._run = counted(cuda._run)  # what is left to CuPy is said too, and CuPy's own functions have to stay
    with tempfile.TemporaryDirectory() as own:
        os.environ["CUPY_CACHE_DIR"] = own
        assert jitcache.adapters.cupy.install()
        made = [compile_with_cache(source, arch="80") for source in (K, C)]
        digests = [hashlib.sha256(m.code).hexdigest() for m in made]
        print(json.dumps([len(asked), digests, jitcache.adapters.cupy.uncached()]))


main()
