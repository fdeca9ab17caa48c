#!/bin/sh
# From Python 3.12 on, the LLVM IR that Numba makes of one function depends on PYTHONHASHSEED.
#
# Python 3.12 inlines comprehensions, so the variables that they hide and put back become phi nodes of the function. Numba
# declares and uses these in the order of a set of names, and Python picks the seed of its hashes anew in each process. The code
# does the same in each order; its text, and what LLVM is given, is another one.
#
# Seen with Numba 0.68.1 and llvmlite 0.50.0 on CPython 3.12, Linux x86_64. The program is a function with three comprehensions;
# each line is how many texts of unoptimised IR four processes give, after addresses were taken out:
#
#     four seeds:        4 texts
#     one seed, 4 times: 1 text
#
# On CPython 3.11 four seeds give one text.
#
# What it means for a cache: a key made of the IR is another one in each process. jitcache's key of what LLVM is given does not even
# this out: such a function is compiled again under another seed, never wrongly found (docs/numba.md). With PYTHONHASHSEED set it is
# found. The script fails if Numba does otherwise by now. PYTHON names a Python of 3.12 or later.
set -eu
python=${PYTHON:-python3.12}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check numba==0.68.1 llvmlite==0.50.0
cat >"$folder/program.py" <<'PYTHON'
from numba import njit


@njit
def f(n):
    """Return something of three lists."""
    total = 0
    a = [i * 2 for i in range(n)]
    b = [i * 3 for i in a]
    for x in a:
        total += x
    c = [x + y for x, y in zip(a, b)]
    return total + len(b) + len(c)


f(3)
PYTHON
ir() { # prints the IR that a process makes under a seed
	PYTHONHASHSEED=$1 NUMBA_DUMP_LLVM=1 "$folder/env/bin/python" "$folder/program.py" | sed -E 's/0x[0-9a-f]+//g'
}
count() { # prints how many different files there are
	n=$(sha256sum "$@" | cut -d' ' -f1 | sort -u | wc -l)
	[ "$n" = 1 ] && echo "1 text" || echo "$n texts"
}
for seed in 0 1 2 3; do
	ir "$seed" >"$folder/seed$seed"
	ir 0 >"$folder/again$seed"
done
{
	echo "four seeds:        $(count "$folder"/seed?)"
	echo "one seed, 4 times: $(count "$folder"/again?)"
} | tee "$folder/seen"
cat >"$folder/want" <<'SEEN'
four seeds:        4 texts
one seed, 4 times: 1 text
SEEN
cmp -s "$folder/seen" "$folder/want" || { echo "Numba does otherwise by now" >&2; exit 1; }
