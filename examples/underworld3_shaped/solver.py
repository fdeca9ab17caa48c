"""A solver in the shape of underworld3's, with its functions compiled through jitcache.

    mpirun -np 4 python examples/underworld3_shaped/solver.py

Eighteen residual and Jacobian functions are written in C, built by Cython and setuptools,
called by pointer, and compared with Python's values. Then the value of a constant
changes, and nothing is compiled for it. Each rank prints a line of JSON. ``--plain``
leaves jitcache out. In a program that uses underworld3 itself the two lines that matter
are the same:

    from jitcache.adapters import underworld3 as adapter
    adapter.install()
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "fake"))

import underworld3.mpi
from underworld3.utilities import _jitextension

FUNCTIONS = 18


def expressions(terms: int) -> list[tuple[str, str]]:
    """Return functions of u and two constants, as C and as Python."""
    made = []
    for n in range(FUNCTIONS):
        parts = [f"constants[{k % 2}]*sin({n + 1}.0*u[0] + {k}.0)*u[1]" for k in range(terms)]
        made.append((" + ".join(parts), " + ".join(parts).replace("sin", "math.sin")))
    return made


def solve(terms: int, cache: bool) -> float:
    """Get the functions, call each one with two values of a constant; return the seconds that getting them took."""
    functions = expressions(terms)
    constants = [_jitextension.Constant("viscosity", 2.0), _jitextension.Constant("density", 3.0)]
    start = time.perf_counter()
    result = _jitextension.getext([c for c, _ in functions], constants, cache=cache)
    seconds = time.perf_counter() - start
    for value in (2.0, 5.0):
        constants[0].value = value
        u = [0.5 + underworld3.mpi.rank, 1.5]
        for which, (_, python) in enumerate(functions):
            want = eval(python, {"math": math, "u": u, "constants": [c.value for c in constants]})
            got = result.call(which, u)
            if not math.isclose(got, want, rel_tol=1e-12, abs_tol=1e-12):
                raise SystemExit(f"function {which}: {got}, expected {want}")
    return seconds


def main() -> None:
    """Read the arguments and solve."""
    parser = argparse.ArgumentParser(description="A solver in the shape of underworld3's.")
    parser.add_argument("--plain", action="store_true", help="without jitcache")
    parser.add_argument("--flat", action="store_true", help="with the files of underworld3's own cache, too")
    parser.add_argument("--no-cache", action="store_true", help="as underworld3 asks for some solvers")
    parser.add_argument("--terms", type=int, default=10, help="terms of each function")
    arguments = parser.parse_args()
    if not arguments.plain:
        from jitcache.adapters import underworld3 as adapter

        adapter.install(flat=arguments.flat)
    seconds = solve(arguments.terms, not arguments.no_cache)
    line = json.dumps({"rank": underworld3.mpi.rank, "of": underworld3.mpi.size, "seconds": round(seconds, 4)})
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
