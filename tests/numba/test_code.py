"""The second tier: Numba's front end runs, and LLVM's part is found by what LLVM is given.

Each program uses an overload, so its results are not kept by source. How often LLVM compiled something is
counted where Numba gives it a library.
"""

from __future__ import annotations

import pytest
from project import Project

OVERLOAD = """
import os, numpy
from numba.extending import overload
def h(x):
    raise NotImplementedError
@overload(h)
def over(x):
    k = int(os.environ["VALUE"])
    return lambda x: x * k
"""
A = """
from o import h
@numba.njit(cache=True)
def f(x):
    return h(x) + 1
"""
CALL = "import a; print(a.f(1))"


def test_llvm_compiles_once_whatever_the_seed_of_hashes_is(project: Project) -> None:
    project.write(o=OVERLOAD, a=A)
    ran = [project.check(CALL, VALUE="2", PYTHONHASHSEED=seed) for seed in ("1", "2", "3")]
    assert [r.out for r in ran] == ["3"] * 3
    assert [bool(r.by_llvm) for r in ran] == [True, False, False]
    assert ["f" in r.compiled for r in ran] == [True] * 3


def test_without_the_second_tier_llvm_compiles_each_time(project: Project) -> None:
    project.write(o=OVERLOAD, a=A)
    ran = [project.check(CALL, VALUE="2", WITHOUT="by code") for _ in range(2)]
    assert all(r.by_llvm for r in ran)


@pytest.mark.parametrize("without", ["", "linked"])
def test_what_is_called_counts(project: Project, without: str) -> None:
    """The caller's own text is the same."""
    project.write(o=OVERLOAD, a=A)
    ran = [project.check(CALL, VALUE=value, WITHOUT=without) for value in ("2", "3", "2")]
    assert [r.out for r in ran] == (["3", "3", "3"] if without else ["3", "4", "3"])
    assert not ran[2].by_llvm


SETTING = """
import a
from numba.core import config
config.OPT = config._OptLevel({level})
print(a.f(1))
"""


@pytest.mark.parametrize("without", ["", "settings of code"])
def test_a_setting_that_a_program_changes_counts(project: Project, without: str) -> None:
    project.write(o=OVERLOAD, a=A)
    ran = [project.check(SETTING.format(level=level), VALUE="2", WITHOUT=without) for level in (3, 0, 0)]
    assert [bool(r.by_llvm) for r in ran] == [True, not without, False]


CLOSURES = """
import o
def make(k):
    @numba.njit(cache=True)
    def f(x):
        return o.h(x) * k
    return f
two, five = make(2), make(5)
@numba.njit(cache=True)
def both(x):
    return two(x) * 10 + five(x)
"""


@pytest.mark.parametrize(
    ("call", "out"),
    [("a.two(1), a.five(1), a.both(1)", "2 5 25"), ("a.five(1), a.both(1), a.two(1)", "5 25 2"), ("a.both(1)", "25")],
)
def test_closures_of_one_function_are_told_apart(project: Project, call: str, out: str) -> None:
    """In any order: none has a name that another process has given to the other one."""
    project.write(o=OVERLOAD, a=CLOSURES)
    assert project.check("import a; print(a.two(1), a.five(1), a.both(1))", VALUE="1").out == "2 5 25"
    ran = project.check(f"import a; print({call})", VALUE="1")
    assert ran.out == out
    assert not ran.by_llvm


def test_what_is_inspected_is_there(project: Project) -> None:
    project.write(o=OVERLOAD, a=A)
    code = """
    import a
    a.f(1)
    asm, llvm = a.f.inspect_asm()[a.f.signatures[0]], a.f.inspect_llvm()[a.f.signatures[0]]
    print("\tret" in asm, "define" in llvm, a.f.overloads[a.f.signatures[0]].fndesc.llvm_func_name in asm)
    """
    assert [project.check(code, VALUE="2").out for _ in range(2)] == ["True True True"] * 2


RECURSION = """
from o import h
@numba.njit(cache=True)
def f(x):
    return h(x) if x < 2 else g(x - 1) + 1
@numba.njit(cache=True)
def g(x):
    return h(x) if x < 2 else f(x - 1) + 2
@numba.njit(cache=True)
def alone(x):
    return h(x) if x < 2 else alone(x - 1) + 1
"""


def test_functions_that_call_each_other_are_right(project: Project) -> None:
    project.write(o=OVERLOAD, a=RECURSION)
    for call, right in (("a.f(5), a.g(5), a.alone(5)", "7 7 5"), ("a.g(5), a.alone(5), a.f(5)", "7 5 7")):
        ran = [project.check(f"import a; print({call})", VALUE="1").out for _ in range(2)]
        assert ran == [right] * 2


PARALLEL = """
import numpy, o
@numba.njit(cache=True, parallel=True, fastmath={"nsz", "arcp", "contract", "afn"})
def f(x):
    y = numpy.zeros(x)
    for i in numba.prange(x):
        y[i] = o.h(i) * 2.0 / 3.0
    return int(y.sum() * 3 + 0.5)
"""
CLASS = """
import o
from numba.experimental import jitclass
@jitclass([("x", numba.int64)])
class C:
    def __init__(self, x):
        self.x = x
    def twice(self):
        return self.x * 2
@numba.njit(cache=True)
def f(x):
    return C(x).twice()
"""


@pytest.mark.parametrize(("program", "right"), [(PARALLEL, "12"), (CLASS, "8")], ids=["a parallel loop", "a jitclass"])
def test_is_found(project: Project, program: str, right: str) -> None:
    """Code with names by hashes and addresses."""
    project.write(o=OVERLOAD, a=program)
    ran = [project.check("import a; print(a.f(4))", VALUE="1", PYTHONHASHSEED=seed) for seed in ("1", "2")]
    assert [r.out for r in ran] == [right] * 2
    assert ran[1].by_llvm == []


ADDRESS = """
from numba.core import types
from numba.extending import intrinsic
it = (1, 2)
@intrinsic
def h(context, x):
    def make(context, builder, signature, args):
        return context.get_constant(types.intp, id(it))
    return types.intp(x), make
@numba.njit(cache=True)
def f(x):
    return h(x)
"""


def test_code_with_an_address_of_the_process_is_not_kept(project: Project) -> None:
    project.write(a=ADDRESS)
    for _ in range(2):
        ran = project.check("import a; print(a.f(1) == id(a.it))")
        assert (ran.out, "f" in ran.by_llvm) == ("True", True)


@pytest.mark.parametrize("option", ["", "-force-vector-width=2"])
def test_with_an_option_of_llvm_nothing_is_kept_or_used(project: Project, option: str) -> None:
    project.write(
        o=OVERLOAD,
        a="from llvmlite.binding import set_option\nimport os\nif os.environ['OPTION']:\n    set_option('', os.environ['OPTION'])\n"
        + A,
    )
    ran = [project.check(CALL, VALUE="2", OPTION=one) for one in (option, option, "", option)]
    assert [bool(r.by_llvm) for r in ran] == ([True] * 4 if option else [True, False, False, False])
