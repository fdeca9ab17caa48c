#!/bin/sh
# numba-cuda 0.30.4: the key of a kernel that is cached (cache=True) has the bytecode of its own function, and nothing of the functions and
# global values that it uses.
#
# The index is for the source file of the kernel alone, by its time and size. So after a change in another file, a kernel that uses what
# is there is found, and has the old code.
#
# Seen on Linux x86_64, without a GPU, for a kernel that reads helper.N, before and after a change of helper.py. Without a driver no
# kernel can be looked up, and none that calls a function can be compiled, so this asks the class of the cache for the key and for the
# file's stamp:
#
#     N = 4 to N = 5: the same key and stamp, other PTX
#
# What it means for a cache: the code that a function reaches belongs to its key, as jitcache has it for Numba on the CPU (docs/numba.md). There is
# no adapter for numba-cuda. The script fails if numba-cuda does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check numba-cuda==0.30.4 nvidia-nvvm==13.5.37 nvidia-cuda-nvrtc==13.5.37 \
	nvidia-nvjitlink==13.5.37 nvidia-cuda-runtime==13.5.37
cat >"$folder/program.py" <<'PYTHON'
import hashlib

import helper
from numba import cuda, types
from numba.cuda.dispatcher import CUDACache


def kernel(x):
    x[0] = x[0] + helper.N


class Codegen:
    def magic_tuple(self):
        return ("sm_90",)


signature = (types.float32[::1],)
cache = CUDACache(kernel)
found = cache._index_key(signature, Codegen()), cache._impl.locator.get_source_stamp()
ptx, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0))
print(*(hashlib.sha256(repr(part).encode()).hexdigest()[:12] for part in (found, ptx)))
PYTHON
program() {
	echo "N = $1" >"$folder/helper.py"
	cd "$folder" && PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR="$folder/cache" "$folder/env/bin/python" program.py
}
before=$(program 4)
after=$(program 5)
key=other code="the same"
[ "${before% *}" = "${after% *}" ] && key="the same"
[ "${before#* }" != "${after#* }" ] && code=other
echo "N = 4 to N = 5: $key key and stamp, $code PTX"
[ "$key, $code" = "the same, other" ] || { echo "numba-cuda does otherwise by now" >&2; exit 1; }
