"""Verification: each hit of a result that is kept by its source is compared with a compile."""

from __future__ import annotations

import samples
from project import Project

A = """
import conf
@numba.njit
def g(x):
    return x * conf.K
@numba.njit
def f(x):
    return g(x) + 1
@numba.vectorize
def v(x):
    return f(x) * 2
@numba.njit(parallel=True)
def p(n):
    total = 0.0
    for i in numba.prange(n):
        total += f(i)
    return total
"""
CALL = """
import a
from jitcache.adapters import numba as j
print(a.f(1), a.v(2), a.p(4))
print({name: len(found) for name, found in j.verified().items()})
for line in j.verified()["different"]:
    print(line)
"""
NONE = "{'same': 0, 'different': 0, 'unknown': 0}"


def test_results_that_are_kept_rightly_are_the_same(project: Project) -> None:
    project.write(conf="K = 3", a=A)
    first = project.check(CALL, "verify")
    assert first.out.splitlines() == ["4 14 22.0", NONE]
    again = project.check(CALL, "verify")
    assert again.out.splitlines()[0] == "4 14 22.0"
    assert "'same': 0" not in again.out
    assert "'different': 0, 'unknown': 0" in again.out
    assert "0 differ" in again.err
    assert again.by_llvm
    # Numba makes the loop of a ufunc in each process.
    assert set(project.check(CALL, "everything").by_llvm) <= {"ufunc_wrapper"}


def test_a_wrong_hit_is_told_and_not_used(project: Project) -> None:
    """A global does not count here, so the entries are found although it has changed."""
    project.write(conf="K = 3", a=A)
    project.check(CALL, "everything", WITHOUT="records,globals")
    project.write(conf="K = 5", a=A)
    assert project.check(CALL, "everything", WITHOUT="records,globals").out.splitlines() == ["4 14 22.0", NONE]
    ran = project.check(CALL, "verify", WITHOUT="records,globals")
    out = ran.out.splitlines()
    assert out[0] == "6 22 34.0"
    assert "a.g(int64): its own code" in out
    assert any(line.startswith("a.f(int64): the code of ") for line in out)
    assert samples.under("docs/numba.md", "Verify").strip() in ran.err


def test_without_the_comparison_a_wrong_hit_is_used(project: Project) -> None:
    project.write(conf="K = 3", a=A)
    project.check(CALL, "everything", WITHOUT="records,globals")
    project.write(conf="K = 5", a=A)
    assert project.check(CALL, "verify", WITHOUT="records,globals,comparison").out.splitlines() == ["4 14 22.0", NONE]
