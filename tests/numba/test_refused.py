"""What is not cached: counted, by one reason each; and what Numba's own never finds again, and ours does."""

from __future__ import annotations

import json
import shutil
from typing import NamedTuple

import pytest
from project import Project


class Refused(NamedTuple):
    """A function that is not cached, and why."""

    name: str
    module: str
    call: str
    reason: str


REFUSED = [
    Refused("an instance of a jitclass", """
        from numba.experimental import jitclass
        @jitclass([("x", numba.int64)])
        class C:
            def __init__(self, x):
                self.x = x
        @numba.njit(cache=True)
        def f(c):
            return c.x
     """, "a.f(a.C(1))", "jitclass"),
    Refused("a jitclass that is made", """
        from numba.experimental import jitclass
        @jitclass([("x", numba.int64)])
        class C:
            def __init__(self, x):
                self.x = x
        @numba.njit(cache=True)
        def f(x):
            return C(x).x
     """, "a.f(1)", "jitclass"),
    Refused("a callback of cfunc", """
        @numba.cfunc("int64(int64)")
        def g(x):
            return x
        @numba.njit(cache=True)
        def f(x):
            return g(x)
     """, "a.f(1)", "first-class function"),
    Refused("a choice among functions, whose type is that of what was compiled first", """
        @numba.njit
        def add(x, y):
            return x + y
        @numba.njit
        def multiply(x, y):
            return x * y
        @numba.njit
        def choose(x):
            return add if x > 0 else multiply
        add(1, 2)
        @numba.njit(cache=True)
        def f(x):
            return choose(x)(x, 2)
     """, "a.f(1)", "first-class function"),
    Refused("a C function, by its address", """
        import ctypes
        labs = ctypes.CDLL(None).labs
        labs.argtypes, labs.restype = [ctypes.c_long], ctypes.c_long
        @numba.njit(cache=True)
        def f(x):
            return labs(x)
     """, "a.f(1)", "C function pointer"),
    Refused("an array of more than 1 MB", """
        import numpy
        Z = numpy.ones(10**6)
        @numba.njit(cache=True)
        def f(x):
            return x + Z[0]
     """, "a.f(0.0)", "dynamic globals"),
    Refused("an array that is not contiguous", """
        import numpy
        Z = numpy.ones(10)[::2]
        @numba.njit(cache=True)
        def f(x):
            return x + Z[0]
     """, "a.f(0.0)", "dynamic globals"),
    Refused("a loop that is lifted out of object mode", """
        @numba.jit(cache=True, forceobj=True)
        def f(x):
            object()
            for i in range(x):
                x += i
            return x
     """, "a.f(1)", "lifted loops"),
    Refused("two classes of one name", """
        def make():
            class E(Exception):
                pass
            E.__module__, E.__qualname__ = "__main__", "E"
            return E
        D, E = make(), make()
        @numba.njit(cache=True)
        def f(x):
            if x == 1:
                raise D
            if x == 2:
                raise E
            return x
     """, "a.f(0)", "two classes of one name"),
    Refused("an option of LLVM that is set", """
        from llvmlite.binding import set_option
        set_option("", "-force-vector-width=2")
        @numba.njit(cache=True)
        def f(x):
            return x
     """, "a.f(1)", "option of LLVM"),
    Refused("a global that changes while it is used", """
        from numba.extending import overload
        Z = 1
        def h(x):
            raise NotImplementedError
        @overload(h)
        def over(x):
            global Z
            Z += 1
            return lambda x: x
        @numba.njit(cache=True)
        def f(x):
            return h(x) + Z
     """, "a.f(1)", "changed while it was compiled"),
    *(Refused(f"an overload's body that asks {what}", f"""
        import os, sqlite3, subprocess
        from importlib import import_module
        from os import getcwd, listdir, stat
        from numba.extending import overload
        def h(x):
            raise NotImplementedError
        @overload(h)
        def over(x):
            k = {code}
            return lambda x: x * k
        @numba.njit(cache=True)
        def f(x):
            return h(x)
     """, "a.f(1)", reason) for what, code, reason in (
         ("whether a file is there", "2 if os.path.exists(__file__ + 'x') else 1", "code of others"),
         ("what is in a folder", "len(os.listdir(os.path.dirname(__file__)))", "code of others"),
         ("what is below a folder", "len([found for found in os.walk(os.path.dirname(__file__))])", "code of others"),
         ("another program", "len(subprocess.check_output(['pwd']))", "code of others"),
         ("a database", "sqlite3.connect(':memory:').execute('select 1').fetchone()[0]", "code of others"),
         ("what is in a folder, by a name of its own", "len(listdir('/'))", "code of others"),
         ("how large a file is, by a name of its own", "stat(__file__).st_size", "code of others"),
         ("where it is, by a name of its own", "len(getcwd())", "code of others"),
         ("to write a file", "open(os.path.join(os.environ['HOME'], 'log'), 'a').write('1')", "code of others"),
         ("to set a variable", "1 if os.putenv('MINE', '1') else 2", "code of others"),
         ("for a module, by a name of its own", "len(import_module('a').__name__)", "code of others"),
     )),
    Refused("an address that an intrinsic puts into code", """
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
     """, "a.f(1)", "address"),
    Refused("a class that is asked for its subclasses", """
        from numba.extending import overload
        class C:
            pass
        class D(C):
            k = 1
        def h(x):
            raise NotImplementedError
        @overload(h)
        def over(x):
            k = max(c.k for c in C.__subclasses__())
            return lambda x: x * k
        @numba.njit(cache=True)
        def f(x):
            return h(x)
     """, "a.f(1)", "code of others"),
]  # fmt: skip
REPORT = (
    "import json, a; {call}; from jitcache.adapters import numba as j; print(json.dumps([j.uncached(), j.count()]))"
)


@pytest.mark.parametrize("row", REFUSED, ids=[r.name for r in REFUSED])
def test_is_counted_by_reason_and_compiled_each_time(project: Project, row: Refused) -> None:
    project.write(a=row.module)
    for _ in range(2):
        ran = project.check(REPORT.format(call=row.call))
        reasons, _count = json.loads(ran.out)
        assert reasons.keys() == {row.reason}
        assert reasons[row.reason] >= 1
        assert "f" in ran.compiled


SUM = """
import os
from llvmlite.binding import set_option
if os.environ.get("OPTION"):
    set_option("", os.environ["OPTION"])
@numba.njit(cache=True)
def f(x):
    return x + 1
"""


def test_option_of_llvm_is_for_all_that_is_compiled_after_it(project: Project) -> None:
    """It may change code, and print: what was compiled without it is not used, and nothing is kept for who has none."""
    project.write(a=SUM)
    options = [{}, {"OPTION": "-force-vector-width=2"}, {"OPTION": "-force-vector-width=2"}, {}]
    for without, compiled in (("", [["f"], ["f"], ["f"], []]), ("options of LLVM", [["f"], [], [], []])):
        shutil.rmtree(project.cache, ignore_errors=True)
        assert [project.check("import a; a.f(1)", WITHOUT=without, **o).compiled for o in options] == compiled


# An llvmlite of another form, before ours is installed: who sets an option there is not seen.
FORMS = {
    "as it is": "",
    "no module of functions": "options.ffi = None",
    "no functions": "options.ffi = SimpleNamespace()",
    "no function that sets one": "options.ffi = SimpleNamespace(lib=SimpleNamespace())",
}
FORM = """
    from types import SimpleNamespace
    from llvmlite.binding import options
    {form}
    from jitcache.adapters import numba as j
    j.install()
    import a
    a.f(1)
    print(j.uncached(), j.count())
"""


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_kept_where_options_of_llvm_cannot_be_seen(project: Project, form: str) -> None:
    """The first form, and the mechanism taken out, show that it is for this alone."""
    project.write(a=SUM)
    unseen = form != "as it is"
    for without, refused in (("", unseen), ("options of LLVM", False)):
        shutil.rmtree(project.cache, ignore_errors=True)
        ran = [project.check(FORM.format(form=FORMS[form]), "none", WITHOUT=without) for _ in range(2)]
        assert [r.compiled for r in ran] == [["f"], ["f"] if refused else []]
        assert [r.out for r in ran] == (["{'option of LLVM': 1} 0"] * 2 if refused else ["{} 1"] * 2)


def test_without_the_look_for_addresses_code_has_those_of_another_process(project: Project) -> None:
    row = next(r for r in REFUSED if r.reason == "address")
    project.write(a=row.module)
    call = "import a; print(a.f(1) == id(a.it))"
    for without, second in (("", "True"), ("addresses of others", "False")):
        for said in ("True", second):
            taken_out = without and f"others,{without}"
            assert project.check(call, WITHOUT=taken_out, fresh="each has addresses of its own").out == said


MAPPED = """
    import numpy
    from jitcache.adapters.numba import _outside
    _outside._mapped = lambda: numpy.array([_outside._LOWEST, _outside._HIGHEST], numpy.uint64)
    _outside.data_in = lambda code: []  # of names of its own
    import a; print(a.f(1) == {right}, __import__("jitcache.adapters.numba").adapters.numba.uncached())
"""


def test_numbers_among_instructions_are_no_addresses(project: Project) -> None:
    """However much of the memory a process has, and wherever: in this one there is something at all addresses."""
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1")
    call = MAPPED.format(right=2)
    assert project.check(call, WITHOUT="chance").out == "True {'address': 1}"
    assert project.check(call).out == "True {}"
    assert project.check(call).compiled == []
    project.write(a=next(r.module for r in REFUSED if r.reason == "address"))
    assert project.check(MAPPED.format(right="id(a.it)")).out == "True {'address': 1}"


class Found(NamedTuple):
    """A function that is found again; numba: how often its own compiles it in a second process."""

    name: str
    module: str
    call: str
    out: str
    numba: int


FOUND = [
    Found("a closure over a jitted function", """
        def make(g):
            @numba.njit(cache=True)
            def f(x):
                return g(x)
            return f
        @numba.njit
        def g(x):
            return x + 1
        f = make(g)
     """, "print(a.f(1))", "2", 2),
    Found("an argument that is a jitted function", """
        @numba.njit
        def g(x):
            return x + 1
        @numba.njit(cache=True)
        def f(g, x):
            return g(x)
     """, "print(a.f(a.g, 1))", "2", 2),
    Found("a function that calls itself", """
        @numba.njit(cache=True)
        def f(x):
            return 1 if x < 2 else x * f(x - 1)
     """, "print(a.f(5))", "120", 0),
    Found("a default that is used", """
        @numba.njit(cache=True)
        def f(x=41):
            return x + 1
     """, "print(a.f())", "42", 0),
    Found("a named tuple of a module", """
        import collections
        P = collections.namedtuple("P", "x")
        @numba.njit(cache=True)
        def f(p):
            return P(p.x + 1)
     """, "p = a.f(a.P(1)); print(p, type(p) is a.P)", "P(x=2) True", 0),
    Found("a named tuple of the script", """
        import collections
        P = collections.namedtuple("P", "x")
        P.__module__ = "__main__"
        @numba.njit(cache=True)
        def f(p):
            return P(p.x + 1)
     """, "import __main__; __main__.P = a.P; p = a.f(a.P(1)); print(p, type(p) is a.P)", "P(x=2) True", 1),
    Found("an exception of the script", """
        class E(Exception):
            pass
        E.__module__ = "__main__"
        @numba.njit(cache=True)
        def f(x):
            if x:
                raise E("no")
            return x
     """, "import __main__; __main__.E = a.E\ntry:\n    a.f(1)\nexcept a.E as e:\n    print(repr(e))", "E('no')", 0),
    Found("a block of object mode", """
        import logging
        log = logging.getLogger("x")
        @numba.njit(cache=True)
        def f(x):
            with numba.objmode(y="int64"):
                log.debug("%s", x)
                y = x + 1
            return y
     """, "print(a.f(1))", "2", 0),
    Found("a generated function", """
        space = {}
        exec("def g(x):\\n    return x + 1\\n", space)
        g = numba.njit(space["g"])
        @numba.njit(cache=True)
        def f(x):
            return g(x)
     """, "print(a.f(1))", "2", 0),
]  # fmt: skip


@pytest.mark.parametrize("row", FOUND, ids=[r.name for r in FOUND])
def test_is_found_again(project: Project, row: Found) -> None:
    project.write(a=row.module)
    call = f"import a; {row.call}"
    for cache, compiles in (("jitcache", 0), ("numba", row.numba)):
        first = project.check(call, cache)
        assert (first.out, bool(first.compiled)) == (row.out, True)
        second = project.run(call, cache)
        if cache == "jitcache":
            assert (second.out, second.compiled, second.status) == (row.out, [], 0), second.err
        else:
            assert len(second.compiled) == compiles, second


def test_without_the_mechanism_a_named_tuple_is_of_another_class(project: Project) -> None:
    row = next(r for r in FOUND if r.name == "an exception of the script")
    project.write(a=row.module)
    call = f"import a; {row.call}"
    project.check(call, WITHOUT="pin")
    ran = project.run(call, WITHOUT="pin")
    assert ran.out != row.out or ran.compiled


def test_without_the_mechanism_an_argument_that_is_a_function_is_not_found(project: Project) -> None:
    row = next(r for r in FOUND if r.name == "an argument that is a jitted function")
    project.write(a=row.module)
    project.check(f"import a; {row.call}", WITHOUT="places")
    assert project.run(f"import a; {row.call}", WITHOUT="places").compiled != []


def test_change_while_compiling_is_stored_without_the_mechanism(project: Project) -> None:
    row = next(r for r in REFUSED if r.name == "a global that changes while it is used")
    project.write(a=row.module)
    ran = project.check(REPORT.format(call=row.call), WITHOUT="others,check")
    assert json.loads(ran.out) == [{}, 1]
