#!/bin/sh
# dlopen of glibc: a path that was opened before is the library of then, also if another file is there by now.
#
# The loader first compares the text of the path with the paths of the libraries that are loaded, and only then looks at the file. A
# library in memory (memfd_create) is opened by /proc/self/fd/N. Once its descriptor is closed, the next one gets the same number, and
# so the same path: dlopen succeeds, and returns the first library again. By /proc/PID/fd/N it does the same within a process.
#
# Seen with glibc 2.36 (Debian 12) on Linux x86_64; the numbers are what a function in the first and in the second library returns:
#
#     the descriptor is used again: 1 1
#     each has a number of its own: 1 2
#
# What it means for a cache: a path is no identity, neither of code that is loaded nor of code that is to be loaded. jitcache loads a
# second copy of its library into a forked child by a path that no ancestor has used (capi/second_runtime.c). The script fails if the loader
# does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check ziglang==0.15.2
for n in 1 2; do
	echo "int answer(void) { return $n; }" >"$folder/$n.c"
	ZIG_GLOBAL_CACHE_DIR=$folder/zig "$folder/env/bin/python" -m ziglang cc -shared -fPIC -o "$folder/$n.so" "$folder/$n.c"
done
cat >"$folder/show.py" <<'PYTHON'
import ctypes, os, sys


def answer(library, keeps):
    """Return the answer of a library that is loaded from memory."""
    with open(library, "rb") as file:
        content = file.read()
    descriptor = os.memfd_create("library")
    os.write(descriptor, content)
    loaded = ctypes.CDLL(f"/proc/self/fd/{descriptor}")
    if not keeps:
        os.close(descriptor)
    return loaded.answer()


print(*(answer(f"{sys.argv[1]}/{n}.so", sys.argv[2] == "keep") for n in (1, 2)))
PYTHON
again=$("$folder/env/bin/python" "$folder/show.py" "$folder" close)
own=$("$folder/env/bin/python" "$folder/show.py" "$folder" keep)
"$folder/env/bin/python" -c 'import platform; print(*platform.libc_ver())'
echo "the descriptor is used again: $again"
echo "each has a number of its own: $own"
[ "$again" = "1 1" ] && [ "$own" = "1 2" ] || { echo "the loader does otherwise by now" >&2; exit 1; }
