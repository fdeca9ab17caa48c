"""cuda.core: a kernel, and one of a template that includes a header."""

import ctypes
import os
from pathlib import Path

ctypes.CDLL(os.environ["NVRTC"], mode=ctypes.RTLD_GLOBAL)

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

FACTOR = 3
N = 1000

PLAIN = f'extern "C" __global__ void fill(int *p, int n) {{ int i = threadIdx.x; if (i < n) p[i] = i * {FACTOR}; }}'
TEMPLATE = "#include <factor.h>\ntemplate <class T> __global__ void fill(T *p, int n) { int i = threadIdx.x; if (i < n) p[i] = i * FACTOR; }"
KINDS = ((PLAIN, "fill", np.int32), (TEMPLATE, "fill<double>", np.float64))


def watch(note):
    """Its compiles are those of NVRTC."""


ours = False


def install():
    global ours
    ours = True


def compiled(source, name, options):
    names = (name,) if "<" in name else ()
    if ours:
        from jitcache.adapters.cuda_core import compile_program

        return compile_program(source, options=options, name_expressions=names)
    return Program(source, "c++", options).compile("cubin", name_expressions=names)


def launched():
    device = Device(0)
    device.set_current()
    folder = Path(os.environ["OWN"]).parent / "include"
    folder.mkdir(exist_ok=True)
    (folder / "factor.h").write_text(f"#define FACTOR {FACTOR}\n")
    found, stream = [], device.create_stream()
    for source, name, kind in KINDS:
        kernel = compiled(source, name, ProgramOptions(include_path=str(folder))).get_kernel(name)
        buffer = LegacyPinnedMemoryResource().allocate(N * np.dtype(kind).itemsize)
        out = np.from_dlpack(buffer).view(kind)
        out[:] = -1
        launch(stream, LaunchConfig(grid=1, block=1024), kernel, buffer, np.int32(N))
        stream.sync()
        found.append(out.tobytes())
    return found


def right(results):
    return results == [(np.arange(N) * FACTOR).astype(kind).tobytes() for _, _, kind in KINDS]
