#!/bin/sh
# import sklearn sets two variables of Intel's OpenMP for the process, and for all that it starts.
#
# sklearn/__init__.py sets KMP_DUPLICATE_LIB_OK and KMP_INIT_AT_FORK, unless they are set. So a program that compiles before the
# import starts its compiler with another environment than one that compiles after it.
#
# Seen with scikit-learn 1.9.1 on Linux x86_64:
#
#     KMP_DUPLICATE_LIB_OK=True
#     KMP_INIT_AT_FORK=FALSE
#
# What it means for a cache: a variable of the environment does not say what somebody has chosen. jitcache does not give builds the
# documented variables of running numerical libraries, so these do not count (record/numerical.go, docs/observation.md). The script
# fails if scikit-learn sets others by now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check scikit-learn==1.9.1
cat >"$folder/show.py" <<'PYTHON'
import os

before = dict(os.environ)
import sklearn

for name in sorted(set(before) | set(os.environ)):
    if os.environ.get(name) != before.get(name):
        print(f"{name}={os.environ.get(name)}")
PYTHON
env -u KMP_DUPLICATE_LIB_OK -u KMP_INIT_AT_FORK "$folder/env/bin/python" "$folder/show.py" | tee "$folder/seen"
printf 'KMP_DUPLICATE_LIB_OK=True\nKMP_INIT_AT_FORK=FALSE\n' | cmp -s - "$folder/seen" || { echo "scikit-learn does otherwise by now" >&2; exit 1; }
