"""CUDA sources for tests, small enough that a compile takes milliseconds."""

from __future__ import annotations

#: What most compiles here are for: an architecture that every NVRTC has.
OPTIONS = ("-arch=sm_80",)

KERNEL = """
extern "C" __global__ void fill(int *p)
{
    *p = VALUE;
}
"""


def kernel(value: object = 1, before: str = "") -> str:
    """Return a source whose code depends on a value."""
    return f"{before}\n#define VALUE {value}\n{KERNEL}"


TEMPLATE = """
template <typename T> __global__ void axpy(T a, T *x)
{
    *x *= a;
}
"""

WARNS = "#warning mind the gap\n" + kernel()

BROKEN = '#error "not today"\n' + kernel()
