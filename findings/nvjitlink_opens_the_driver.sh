#!/bin/sh
# nvJitLink 13.5: it opens libcuda.so.1 when a linker is made, though the options name the architecture and no driver is needed.
#
# The link succeeds if there is none. It is dlopen, so the loader looks in LD_LIBRARY_PATH, its cache and the system's folders.
#
# Seen on Linux x86_64, without a GPU:
#
#     libcuda.so.1 is asked for by libnvJitLink.so.13
#     nvJitLinkCreate 0, nvJitLinkComplete 0
#
# What it means for a cache: a link that is observed would depend on whether a driver is installed, so a build machine's results would not be
# used where the GPUs are. The key of jitcache's `link` for cuda.core has the objects, the options and nvJitLink's content, and it observes nothing
# (docs/cuda_core.md). The script needs glibc, and fails if the wheel does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check --target "$folder/wheel" nvidia-nvjitlink==13.5.37
cat >"$folder/show.py" <<'PYTHON'
import ctypes, glob, sys

(library,) = glob.glob(sys.argv[1] + "/**/libnvJitLink.so.13", recursive=True)
nvjitlink, linker = ctypes.CDLL(library), ctypes.c_void_p()
options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
created = nvjitlink.nvJitLinkCreate(ctypes.byref(linker), 1, options)
ptx = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() { ret; }\n\0"
assert nvjitlink.nvJitLinkAddData(linker, 2, ptx, len(ptx), b"kernel") == 0  # NVJITLINK_INPUT_PTX
print(f"nvJitLinkCreate {created}, nvJitLinkComplete {nvjitlink.nvJitLinkComplete(linker)}")
PYTHON
LD_DEBUG=files LD_DEBUG_OUTPUT="$folder/loader" "$folder/env/bin/python" "$folder/show.py" "$folder/wheel" >"$folder/said"
by=$(sed -n 's/.*file=libcuda\.so\.1 \[0\];  dynamically loaded by .*\/\([^ ]*\) .*/\1/p' "$folder"/loader.* | sort -u)
echo "libcuda.so.1 is asked for by ${by:-nobody}"
cat "$folder/said"
[ "$by" = libnvJitLink.so.13 ] && [ "$(cat "$folder/said")" = "nvJitLinkCreate 0, nvJitLinkComplete 0" ] ||
	{ echo "this wheel does otherwise by now" >&2; exit 1; }
