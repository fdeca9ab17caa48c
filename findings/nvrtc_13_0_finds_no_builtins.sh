#!/bin/sh
# NVRTC 13.0 from its wheel: no compile works if a program opens the library by its path.
#
# libnvrtc opens libnvrtc-builtins at its first compile, by a name without a folder. The wheels before and after 13.0 have
# a path in libnvrtc's dynamic section ($ORIGIN), by which the loader finds it beside libnvrtc. That of 13.0 has none, so
# every compile fails with NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, unless somebody has loaded the builtins before.
#
# Seen on Linux x86_64, without a GPU; 7 is the status of nvrtcCompileProgram, of an empty kernel:
#
#     nvidia-cuda-nvrtc-cu12==12.9.86: 0
#     nvidia-cuda-nvrtc==13.0.88:      7, and 0 with its builtins loaded first
#     nvidia-cuda-nvrtc==13.5.37:      0
#
# jitcache loads the builtins beside the library that it opens (cuda/nvrtc/builtins.h). The script fails if a wheel does
# otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
cat >"$folder/show.py" <<'PYTHON'
import ctypes, glob, sys

(library,) = [p for p in glob.glob(sys.argv[1] + "/**/libnvrtc.so.*", recursive=True) if ".alt." not in p]
(builtins,) = [p for p in glob.glob(sys.argv[1] + "/**/libnvrtc-builtins.so.*", recursive=True) if ".alt." not in p]
if sys.argv[2:] == ["loaded"]:
    ctypes.CDLL(builtins)
nvrtc = ctypes.CDLL(library)
program = ctypes.c_void_p()
source = b'extern "C" __global__ void kernel() {}\n'
assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None) == 0
print(nvrtc.nvrtcCompileProgram(program, 0, None))
PYTHON
for row in nvidia-cuda-nvrtc-cu12==12.9.86:0 nvidia-cuda-nvrtc==13.0.88:7 nvidia-cuda-nvrtc==13.5.37:0; do
	package=${row%:*} want=${row##*:}
	"$folder/env/bin/pip" install -q --disable-pip-version-check --no-deps --target "$folder/$package" "$package"
	got=$(env -u LD_LIBRARY_PATH "$folder/env/bin/python" "$folder/show.py" "$folder/$package")
	loaded=$(env -u LD_LIBRARY_PATH "$folder/env/bin/python" "$folder/show.py" "$folder/$package" loaded)
	echo "$package: $got, with its builtins loaded first $loaded"
	[ "$got" = "$want" ] && [ "$loaded" = 0 ] || { echo "this wheel does otherwise by now" >&2; exit 1; }
done
