"""Verification: each hit of a result that is kept by its source is compared with a compile."""

from __future__ import annotations

import pytest
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


NAMED = """
import numpy
@numba.njit
def g(x):
    return x * 2
@numba.njit
def twice(x):
    return g(x) if x < 3 else g(x + 1) + 1
@numba.njit
def given(h, x):
    return h(x) + 1
@numba.njit
def checked(x):
    if x < 0:
        raise ValueError("less")
    return given(g, x)
@numba.stencil
def kernel(x):
    return x[-1] + x[1]
@numba.njit
def near(x):
    return kernel(x).sum()
@numba.njit
def squares(x):
    return sum([i * i for i in x])
@numba.njit
def cubes(x):
    return sum([i * i * i for i in x])
"""
NAMED_CALL = """
import numpy, a
from jitcache.adapters import numba as j
x = numpy.arange(4.0)
calls = [lambda: a.twice(4), lambda: a.checked(1), lambda: a.near(x), lambda: a.squares(x), lambda: a.cubes(x)]
print([call() for call in {order}])
print(len(j.verified()["same"]), j.verified()["different"])
"""
KINDS = {
    "an address that a function uses more than once": "addresses that are variables",
    "an address in a message": "messages",
    "an address in the name of a stencil": "stencils",
    "a number that Numba counts through a process": "local names",
}


def named(project: Project, without: str = "") -> str:
    """Return what verify says of functions with all kinds of names, compiled in two processes in different orders."""
    project.write(a=NAMED)
    project.check(NAMED_CALL.format(order="calls"), "everything", PYTHONHASHSEED="1", WITHOUT=without)
    ran = project.check(NAMED_CALL.format(order="calls[::-1]"), "verify", PYTHONHASHSEED="2", WITHOUT=without)
    results, said = ran.out.splitlines()
    assert results == "[36.0, 14.0, 6.0, 3, 11]"
    return said


def test_names_that_differ_in_each_process_are_the_same(project: Project) -> None:
    assert named(project) == "7 []"


@pytest.mark.parametrize("kind", KINDS)
def test_without_the_mechanism_a_name_is_a_difference(project: Project, kind: str) -> None:
    assert not named(project, KINDS[kind]).endswith(" []")
