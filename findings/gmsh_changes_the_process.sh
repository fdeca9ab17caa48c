#!/bin/sh
# gmsh.initialize() changes the process that calls it: PATH, as C programs and new processes see it, and the limit on the stack.
#
# It appends the folder of the running program to PATH by C's setenv, so os.environ of Python has the old value until somebody reads
# the real one, and lifts the soft limit on the stack to the hard one. gmsh.finalize() leaves both as they are.
#
# Seen with gmsh 4.15.2 on Linux x86_64, with a soft limit of 8 MB and no hard one; each line is whether C's PATH has become longer,
# whether os.environ has, and the soft limit:
#
#     before:           no no 8388608
#     after import:     no no 8388608
#     after initialize: yes no unlimited
#     after finalize:   yes no unlimited
#
# What it means for a cache: of several ranks the one that makes the mesh gives another environment and other limits to the compiler
# that it starts, so each would compile for itself. The adapter for underworld3 gives every build the environment, limits and umask
# from before (python/jitcache/_native_process.py). The script fails if gmsh does otherwise by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check gmsh==4.15.2
cat >"$folder/show.py" <<'PYTHON'
import ctypes, os, resource

libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
given = os.environ["PATH"]


def show(when):
    """Print what the process has now."""
    longer = ["yes" if path.startswith(given) and path != given else "no" for path in (libc.getenv(b"PATH").decode(), os.environ["PATH"])]
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    print(f"{when + ':':17}", *longer, "unlimited" if soft == hard else soft)


show("before")
import gmsh

show("after import")
gmsh.initialize(["-v", "0"])
show("after initialize")
gmsh.finalize()
show("after finalize")
PYTHON
"$folder/env/bin/python" "$folder/show.py" | tee "$folder/seen"
cat >"$folder/want" <<'SEEN'
before:           no no 8388608
after import:     no no 8388608
after initialize: yes no unlimited
after finalize:   yes no unlimited
SEEN
cmp -s "$folder/seen" "$folder/want" || { echo "gmsh does otherwise by now" >&2; exit 1; }
