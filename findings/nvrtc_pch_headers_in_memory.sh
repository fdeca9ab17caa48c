#!/bin/sh
# NVRTC with --pch: a header that a program gets from memory is precompiled by its name, and its text is not compared.
#
# nvrtcCreateProgram takes headers as texts. With --pch (automatic precompiled headers, since 12.8) a process that
# compiles two programs, whose header "answer.h" has another text in the second, gets code for the second program that was
# made with the header of the first. Both calls succeed, and the log says nothing. Without --pch each program has its own.
#
# Seen with nvidia-cuda-nvrtc 13.5.37 and nvidia-cuda-nvrtc-cu12 12.8.93 on Linux x86_64, without a GPU:
#
#     without --pch: 1 2
#     with --pch:    1 1
#
# What it means for a cache: a process that compiles for others must not be used again for a program whose headers have
# other texts (cuda/worker/includes.go). The script fails if NVRTC does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
for package in nvidia-cuda-nvrtc==13.5.37 nvidia-cuda-nvrtc-cu12==12.8.93; do
	"$folder/env/bin/pip" install -q --disable-pip-version-check --no-deps --target "$folder/$package" "$package"
	cat >"$folder/show.py" <<'PYTHON'
import ctypes, glob, re, sys

(library,) = [p for p in glob.glob(sys.argv[1] + "/**/libnvrtc.so.*", recursive=True) if ".alt." not in p]
nvrtc = ctypes.CDLL(library)


def answer(text, *options):
    """Return the number that the kernel of a program stores, whose header has a text."""
    program = ctypes.c_void_p()
    source = b'#include "answer.h"\nextern "C" __global__ void kernel(int *out) { *out = ANSWER; }\n'
    headers, names = (ctypes.c_char_p * 1)(text), (ctypes.c_char_p * 1)(b"answer.h")
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 1, headers, names) == 0
    words = [b"--gpu-architecture=compute_90", *options]
    assert nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words)) == 0
    size = ctypes.c_size_t()
    assert nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)) == 0
    ptx = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetPTX(program, ptx) == 0
    assert nvrtc.nvrtcDestroyProgram(ctypes.byref(program)) == 0
    found = re.search(r"(?:mov\.(?:b|u|s)32\s+%r\d+,|st\.global\.(?:b|u|s)32\s+\[%rd\d+\],)\s*(\d+);", ptx.value.decode())
    return found[1]


pch = [b"--pch", b"--pch-dir=" + sys.argv[2].encode()] if sys.argv[2] else []
print(*(answer(b"#define ANSWER %d\n" % n, *pch) for n in (1, 2)))
PYTHON
	mkdir -p "$folder/pch"
	without=$("$folder/env/bin/python" "$folder/show.py" "$folder/$package" "")
	with=$("$folder/env/bin/python" "$folder/show.py" "$folder/$package" "$folder/pch")
	rm -rf "$folder/pch"
	echo "$package"
	echo "without --pch: $without"
	echo "with --pch:    $with"
	[ "$without" = "1 2" ] && [ "$with" = "1 1" ] || { echo "NVRTC does otherwise by now" >&2; exit 1; }
done
