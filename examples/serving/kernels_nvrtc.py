"""A kernel that NVRTC compiles."""

from jitcache import cuda

SOURCE = 'extern "C" __global__ void halve(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 0.5f; }\n'


def code(architecture: int) -> bytes:
    """Return its code."""
    return cuda.compile(SOURCE, options=[f"-arch=sm_{architecture}"], name="halve.cu").code
