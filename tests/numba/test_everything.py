"""What nobody asked to be cached: found again by everything=True, right, and not to be told from what is compiled."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from project import Project


class Kept(NamedTuple):
    """A function without ``cache=True`` whose second process compiles nothing."""

    name: str
    module: str
    call: str
    right: str
    compiled: list[str] = []  # in the second process


KEPT = [
    Kept("a variable with a type of its own that is set twice", """
        @numba.njit(locals={"total": numba.float32})
        def g(x):
            total = 0.0
            for i in range(x):
                total += 0.1
            return total
        @numba.njit
        def f(x):
            return g(x)
     """, "print(a.f(3) == 0.3, a.g(2) == 0.2)", "False False"),
    Kept("a function that calls itself with another type", """
        @numba.njit
        def f(x, y):
            if x > 1 and y > 0:
                return x + f(x - y, y)
            return y
     """, "print(a.f(13, 0.125))", "678.125"),
    Kept("a block of object mode by its own name", """
        from numba import objmode
        @numba.njit
        def f(x):
            with objmode(y="float64"):
                y = x / 10
            return y
     """, "print(a.f(123))", "12.3"),
    Kept("an argument that is left out and has no hash", """
        import numpy
        @numba.njit
        def f(x, y=numpy.ones((2, 2)), z=()):
            return x + y.sum()
     """, "print(a.f(3))", "7.0"),
    Kept("two functions that call each other", """
        @numba.njit
        def f(x):
            return 1 if x < 1 else x * g(x - 1)
        @numba.njit
        def g(x):
            return 1 if x < 1 else x * f(x - 1)
     """, "print(a.f(10))", "3628800"),
    Kept("jitted functions that are used as values", """
        @numba.njit
        def add(x, y):
            return x + y
        @numba.njit
        def multiply(x, y):
            return x * y
        @numba.njit
        def apply(how, x):
            return how(x, 3)
        @numba.njit
        def f(x):
            return apply(add, x) + apply(multiply, x)
        @numba.njit
        def choose():
            return add
        @numba.njit
        def both(x):
            return multiply, x, choose()
     """, "print(a.f(5), a.choose() is a.add, a.both(2) == (a.multiply, 2, a.add))", "23 True True", ["both"]),
    Kept("functions that are called by their addresses", """
        @numba.njit
        def add(x):
            return x + 1
        @numba.cfunc("int64(int64)")
        def double(x):
            return x * 2
        @numba.njit("int64(FunctionType(int64(int64)), int64)")
        def apply(how, x):
            return how(x)
        @numba.njit
        def f(x):
            return apply(add, x) * 10
        @numba.njit
        def g(how, x):
            return how, how(x)
     """, "print(a.apply(a.add, 1), a.apply(a.double, 4), a.f(1), a.g(a.double, 5) == (a.double, 10))", "2 8 20 True", ["g"]),
    Kept("which thread it is", """
        @numba.njit
        def f():
            return numba.get_thread_id()
     """, "print(a.f())", "0"),
    Kept("how many threads there are", """
        @numba.njit
        def f(n):
            numba.set_num_threads(n)
            return numba.get_num_threads()
        @numba.njit
        def g():
            return f(1)
     """, "print(a.f(1), a.g())", "1 1"),
    Kept("a function in object mode that says it is of a module, in a namespace of its own", """
        Z = 100
        space = {"Z": 1, "numba": numba, "__name__": "a"}
        exec("@numba.jit(forceobj=True)\\ndef f(x):\\n    return x + Z", space)
        f = space["f"]
     """, "print(a.f(1))", "101"),
]  # fmt: skip


def test_function_that_nobody_asked_to_be_kept_is_refused_without_a_word(project: Project) -> None:
    project.write(
        a="""
        import numpy
        Z = numpy.ones(10)[::2]
        @numba.njit
        def f(x):
            return x + Z[0]
        @numba.njit(cache=True)
        def g(x):
            return x + Z[0]
     """
    )
    code = "import warnings; warnings.simplefilter('error'); import a; print(a.{}(1.0))"
    assert project.check(code.format("f"), "everything").out == "2.0"
    # Whoever asks is told, as Numba does.
    assert "NumbaWarning: Cannot cache" in project.run(code.format("g"), "everything").err


def test_what_numba_imports_to_get_ready_is_no_code_of_others(project: Project) -> None:
    """SciPy, where it is installed, at the first compile of a process."""
    project.write(a="@numba.njit\ndef f(x):\n    return x + 1")
    code = """
        import sys
        from jitcache.adapters import numba as j
        import a
        print(a.f(1), j.uncached(), "numba.np.linalg" in sys.modules)
    """
    assert project.check(code, "everything", fresh="SciPy must not be imported yet").out == "2 {} True"


LOOKED_INTO = """
@numba.njit
def f(x):
    return x.sum() + 1
@numba.njit(parallel=True)
def g(x):
    return (x + 1).sum()
@numba.cfunc("float64(float64)")
def c(x):
    return x + 1
"""
LOOK = """
    import a, io, contextlib, numpy, re
    x = numpy.ones(4)
    print(a.f(x), a.g(x), a.c.ctypes(1.0))
    (sig,) = a.f.signatures
    print("@" in a.f.inspect_llvm(sig), ".text" in a.f.inspect_asm(sig), "define double" in a.c.inspect_llvm())
    print(len(str(a.f.inspect_cfg(sig).dot)) > 100, sorted(a.f.overloads[sig].metadata))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        a.g.parallel_diagnostics(level=1)
    print("Parallel loop listing" in text.getvalue())
    a.f.inspect_types(text)
    print(len(a.f.get_annotation_info()), "array(float64, 1d, C)" in text.getvalue(), a.f.overloads[sig].fndesc.typemap is None)
"""


@pytest.mark.parametrize("without", ["", "looking into"])
def test_what_is_found_again_can_be_looked_into(project: Project, without: str) -> None:
    project.write(a=LOOKED_INTO)
    plain = project.plain(LOOK)
    cold = project.check(LOOK, "everything")
    assert cold.out == plain
    warm = project.run(LOOK, "everything", WITHOUT=without)
    if without:
        assert warm.out != plain
    else:
        # All but the types by variable in the descriptor, which is none of Numba's interface.
        assert (warm.out, warm.err) == (plain.removesuffix("False") + "True", ""), warm.err


WARNS = """
@numba.njit(parallel=True)
def g(x):
    return x * 2
@numba.njit(parallel=True)
def h(x):
    return x + 1
@numba.njit
def f(x):
    return g(x) + h(2)
"""
WARNED = """
    import a, os, warnings
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        print(a.f(1.5), len(log), a.g(2.5), len(log), a.h(3), len(log))
    for w in log:
        print(w.category.__name__, os.path.basename(w.filename), w.lineno, w.message)
"""


def test_what_numba_warns_of_is_said_in_each_process(project: Project) -> None:
    """Numba says it itself; LLVM is not asked again."""
    project.write(a=WARNS)
    plain = project.plain(WARNED)
    assert "NumbaPerformanceWarning" in plain
    first, again = (project.check(WARNED, "everything") for _ in range(2))
    assert (first.out, again.out, again.by_llvm) == (plain, plain, [])


def test_without_the_rule_what_numba_warns_of_is_not_said_again(project: Project) -> None:
    project.write(a=WARNS)
    plain = project.plain(WARNED)
    assert "NumbaPerformanceWarning" in plain
    assert project.check(WARNED, "everything", WITHOUT="others").out == plain
    warm = project.check(WARNED, "everything", WITHOUT="others")
    assert warm.compiled == []
    assert warm.out != plain


@pytest.mark.parametrize("row", KEPT, ids=[r.name for r in KEPT])
def test_is_kept(project: Project, row: Kept) -> None:
    project.write(a=row.module)
    first = project.check(f"import a; {row.call}", "everything")
    assert first.out == row.right
    assert first.compiled
    second = project.run(f"import a; {row.call}", "everything")
    assert (second.out, second.compiled, second.status) == (row.right, row.compiled, 0), second.err


NOT_KEPT = [
    (KEPT[0].name, "own locals"),
    (KEPT[1].name, "recursion"),
    (KEPT[3].name, "omitted"),
    (KEPT[4].name, "recursion"),
    (KEPT[5].name, "addresses"),
    (KEPT[6].name, "signature of an address"),
    (KEPT[7].name, "threads"),
    (KEPT[8].name, "C functions"),
]


@pytest.mark.parametrize(("name", "what"), NOT_KEPT, ids=[f"{name} without {what}" for name, what in NOT_KEPT])
def test_is_not_kept_without_the_mechanism(project: Project, name: str, what: str) -> None:
    row = next(r for r in KEPT if r.name == name)
    project.write(a=row.module)
    project.check(f"import a; {row.call}", "everything", WITHOUT=f"others,{what}")
    second = project.run(f"import a; {row.call}", "everything", WITHOUT=f"others,{what}")
    assert second.compiled or second.status != 0


@pytest.mark.parametrize("without", ["", "addresses in what is linked"])
def test_function_that_is_a_value_in_what_was_found_is_so_in_what_calls_that(project: Project, without: str) -> None:
    project.write(a=KEPT[5].module, b="import a\n@numba.njit\ndef g(x):\n    return a.both(x)")
    project.check("import a; a.both(1)", "everything", WITHOUT=without and "others")
    for _ in range(2):
        ran = project.run(
            "import a, b; print(b.g(1) == (a.multiply, 1, a.add))",
            "everything",
            WITHOUT=without and f"others,{without}",
        )
        if without:
            assert ran.out != "True"
            return
        assert (ran.out, ran.status) == ("True", 0), ran.err


def test_addresses_that_change_places_are_not_taken_for_one_another(project: Project) -> None:
    project.write(a=KEPT[5].module)
    project.check(
        """
        import re, a, numba
        from jitcache.adapters.numba._addresses import moved, moved_text
        a.both(1)
        library = a.both.overloads[numba.int64,].library
        one, other = id(a.add), id(a.multiply)
        swap = {one: other, other: one}
        code = library._get_compiled_object()
        there = moved(code, swap)
        assert there != code == moved(there, swap) == moved(code, {one: one, other: other})
        text = str(library._get_module_for_linking())
        there = moved_text(text, swap)
        assert there != text == moved_text(there, swap)
        lines = re.findall(r"^@numba.dynamic.globals.(\\w+) = .*i64 (\\d+)", there, re.MULTILINE)
        assert {(int(a, 16), int(b)) for a, b in lines} == {(one, one), (other, other)}, there
        for wrong in (code[:5] + b"\\2" + code[6:], b"", code.replace(one.to_bytes(8, "little"), bytes(8))):
            try:
                moved(wrong, swap)
            except ValueError:
                continue
            raise AssertionError(wrong[:8])
    """,
        "everything",
    )


def test_of_two_functions_that_call_each_other_the_inner_one_is_not_taken_for_the_whole(project: Project) -> None:
    row = next(r for r in KEPT if r.name == "two functions that call each other")
    project.write(a=row.module)
    project.check("import a; print(a.f(10))", "everything")
    # Its code is there, but refers to that of the outer one.
    ran = project.run("import a; print(a.g(10), a.f(9))", "everything")
    assert (ran.out, ran.status) == ("3628800 362880", 0), ran.err
    ran = project.run("import a; print(a.g(10), a.f(9))", "everything")
    assert (ran.out, ran.compiled, ran.status) == ("3628800 362880", [], 0), ran.err
