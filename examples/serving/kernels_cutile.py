"""A kernel of cuTile."""

import io

import cuda.tile as ct
import jitcache.adapters.cutile
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    export_kernel,
)


@ct.kernel
def double(a, b, tile: ct.Constant[int]):
    at = ct.bid(0)
    ct.store(b, index=(at,), tile=ct.load(a, index=(at,), shape=(tile,)) * 2.0)


def code(architecture: int) -> bytes:
    """Return its code. A program that launches it on a device needs no signature."""
    jitcache.adapters.cutile.install()
    array = ArrayConstraint(
        ct.float32,
        1,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(1,),
    )
    signature = KernelSignature([array, array, ConstantConstraint(64)], CallingConvention.cutile_python_v1())
    out = io.BytesIO()
    export_kernel(double, [signature], out, gpu_code=f"sm_{architecture}", output_format="cubin")
    return out.getvalue()
