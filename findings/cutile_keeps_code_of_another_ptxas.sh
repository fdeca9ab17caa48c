#!/bin/sh
# cuTile (cuda-tile 1.7.0): its cache returns the code of another ptxas, if tileiras prints the same version.
#
# The key has the text of `tileiras --version`, architecture, options and the kernel's bytecode. tileiras makes PTX and starts ptxas,
# which makes the code; neither ptxas nor libNVVM, which tileiras loads, is in the key. An update of the wheel nvidia-cuda-nvcc
# or nvidia-nvvm alone is not seen.
#
# Here the other ptxas is a script that starts the real one with -O1. Seen on Linux x86_64, without a GPU (first digits of the code's SHA-256,
# which depend on the folder):
#
#     one ptxas:             78e64570dfde
#     another ptxas:         78e64570dfde
#     another, and no cache: cc65f46bf103
#
# jitcache's adapter takes all that tileiras and what it starts have read for an input (tests/cutile/test_right.py). The script fails if
# cuTile does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check "cuda-tile[tileiras]==1.7.0" nvidia-cuda-tileiras==13.4.92 \
	nvidia-cuda-nvcc==13.4.92 nvidia-nvvm==13.4.92
cat >"$folder/show.py" <<'PYTHON'
import hashlib, io

import cuda.tile as ct
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, export_kernel


@ct.kernel
def kernel(a, b):
    i = ct.bid(0)
    ct.store(b, index=(i,), tile=ct.exp(ct.load(a, index=(i,), shape=(64,))))


array = ArrayConstraint(
    ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=False, stride_constant=(1,)
)
out = io.BytesIO()
signature = KernelSignature([array, array], CallingConvention.cutile_python_v1())
export_kernel(kernel, [signature], out, gpu_code="sm_100", output_format="cubin")
print(hashlib.sha256(out.getvalue()).hexdigest()[:12])
PYTHON
code() {
	CUDA_TILE_CACHE_DIR=$1 "$folder/env/bin/python" "$folder/show.py"
}
ptxas=$(echo "$folder"/env/lib/python3*/site-packages/nvidia/cu13/bin/ptxas)
one=$(code "$folder/cache")
mv "$ptxas" "$ptxas.real"
printf '#!/bin/sh\nexec "%s" "$@" -O1\n' "$ptxas.real" >"$ptxas"
chmod +x "$ptxas"
another=$(code "$folder/cache")
uncached=$(code 0)
echo "one ptxas:             $one"
echo "another ptxas:         $another"
echo "another, and no cache: $uncached"
[ "$one" = "$another" ] && [ "$one" != "$uncached" ] || { echo "cuTile does otherwise by now" >&2; exit 1; }
