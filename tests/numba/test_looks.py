"""What a compile looks at, by whatever form: after a change the result is that of a plain Numba.

Each row runs one piece of code in a process, changes one thing, and runs it in
another process; a process that has no cache at all says what is right. With the mechanism that the row
names taken out, the old result must be served.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from project import Project

OVERLOAD = """
from numba.extending import overload, register_jitable
def h(x):
    raise NotImplementedError
"""
USE = """
from o import h
@numba.njit(cache=True)
def f(x):
    return h(x)
"""
TYPE = """
import operator
from numba.core import cgutils, types
from numba.core.typing.templates import ConcreteTemplate, AbstractTemplate, AttributeTemplate, signature
from numba.extending import *
class Thing:
    pass
class ThingType(types.Type):
    def __init__(self):
        super().__init__(name="Thing")
@typeof_impl.register(Thing)
def of_thing(value, c):
    return ThingType()
@register_model(ThingType)
class Model(models.StructModel):
    def __init__(self, manager, t):
        super().__init__(manager, t, [("p", types.int64), ("q", types.int64)])
@unbox(ThingType)
def unbox_thing(kind, value, c):
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    made.p = c.context.get_constant(types.int64, 10)
    made.q = c.context.get_constant(types.int64, 20)
    return NativeValue(made._getvalue())
"""


class Look(NamedTuple):
    """A form, and a change."""

    name: str
    modules: dict[str, str]
    change: tuple[str, str, str]  # of a module, or "environ", from, to
    right: tuple[str, str]
    without: str = "records"
    call: str = "import a; print(a.f(1))"


def over(
    name: str, before: str, body: str, change: tuple[str, str, str], without: str = "records", **more: str
) -> Look:
    """Return an overload whose body gets ``k`` in some form: 1 at first, then 2."""
    text = (
        OVERLOAD
        + before
        + "\n@overload(h)\ndef over(x):\n    "
        + body.replace("\n", "\n    ")
        + "\n    return lambda x: x * k"
    )
    return Look(f"an overload's body reads {name}", {"o": text, "a": USE, **more}, change, ("1", "2"), without)


LOOKS = [
    over("a number of its module", "K = 1", "k = K", ("o", "K = 1", "K = 2")),
    over("an attribute of an instance", "from c import it", "k = it.k", ("c", "k = 1", "k = 2"),
         c="class C:\n    k = 1\nit = C()"),
    over("an attribute that an instance was given", "from c import it", "k = it.k", ("c", "C(1)", "C(2)"),
         c="class C:\n    def __init__(self, k):\n        self.k = k\nit = C(1)"),
    over("an instance that another module changes", "from c import it\nimport d", "k = it.k", ("d", "it.k = 1", "it.k = 2"),
         c="class C:\n    pass\nit = C()", d="from c import it\nit.k = 1"),
    over("a field of a dataclass", "from c import it", "k = it.k", ("c", "C(1)", "C(2)"),
         c="import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    k: int\nit = C(1)"),
    over("an attribute of a class", "from c import C", "k = C.k", ("c", "k = 1", "k = 2"), c="class C:\n    k = 1"),
    over("an attribute of a class's base", "from c import C", "k = C.k", ("d", "k = 1", "k = 2"),
         c="from d import D\nclass C(D):\n    pass", d="class D:\n    k = 1"),
    over("a property", "from c import it", "k = it.k", ("c", "return 1", "return 2"),
         c="class C:\n    @property\n    def k(self):\n        return 1\nit = C()"),
    over("what a memoised helper returns", "from c import get", "k = get()", ("c", "return 1", "return 2"),
         c="import functools\n@functools.lru_cache\ndef get():\n    return 1"),
    over("what a helper returns that remembers it", "from c import get\nget()", "k = get()", ("c", "return 1", "return 2"),
         c="import functools\n@functools.lru_cache\ndef get():\n    return 1"),
    over("what a partial returns", "from c import get", "k = get()", ("c", "pick, 1", "pick, 2"),
         c="import functools\ndef pick(k):\n    return k\nget = functools.partial(pick, 1)"),
    over("a helper of a helper", "from c import get", "k = get()", ("d", "return 1", "return 2"),
         c="import d\ndef get():\n    return d.get()", d="def get():\n    return 1"),
    over("a name that it computes", "import c", "k = getattr(c, 'K' + 'Z'[:0] + str(len('ab')))", ("c", "K2 = 1", "K2 = 2"), c="K2 = 1"),
    over("a function by a name that it computes", "import c", "k = getattr(c, 'ge' + 't' * len('a'))()", ("d", "return 1", "return 2"), "run",
         c="from d import *", d="def get():\n    return 1"),
    over("a value by a computed name, that comes from a third module", "import c", "k = getattr(c, 'K' + str(len('ab')))",
         ("d", "K2 = 1", "K2 = 2"), c="from d import *", d="K2 = 1"),
    over("a module that it imports", "", "from c import K as k", ("c", "K = 1", "K = 2"), c="K = 1"),
    over("a module that it imports, which imports", "", "import c\nk = c.K", ("d", "K = 1", "K = 2"), c="from d import K", d="K = 1"),
    over("a module that it imports by name", "import importlib", "k = importlib.import_module('c').K", ("c", "K = 1", "K = 2"), c="K = 1"),
    over("a variable of the environment", "import os", "k = int(os.environ['VALUE'])", ("environ", "1", "2"), "others"),
    over("a variable by getenv, in a helper", "from c import get", "k = get()", ("environ", "1", "2"), "others",
         c="import os\ndef get():\n    return int(os.getenv('VALUE', '0'))"),
    over("a file", "import os", "k = int(open(os.path.join(os.path.dirname(__file__), 'c.py')).read()[-1])", ("c", "K=1", "K=2"), c="K=1"),
    over("a file by its number", "import os", "k = int(os.read(os.open(os.path.join(os.path.dirname(__file__), 'c.py'), 0), 99)[-1:])",
         ("c", "K=1", "K=2"), "others", c="K=1"),
    over("a variable as bytes", "import os", "k = int(os.environb[b'VALUE'])", ("environ", "1", "2"), "others"),
    over("the arguments of the process", "import sys, c", "k = int(sys.argv[-1])", ("c", "'1'", "'2'"), "versioned",
         c="import sys\nsys.argv.append('1')"),
    over("what somebody has put into a module of Python's", "import math, c", "k = math.mine", ("c", "1", "2"), "versioned",
         c="import math\nmath.mine = 1"),
    over("a decimal", "from c import it", "k = int(it)", ("c", "(1)", "(2)"), c="import decimal\nit = decimal.Decimal(1)"),
    over("an attribute of a thread's own object", "from c import it", "k = it.k", ("environ", "1", "2"),
         c="import os, threading\nit = threading.local()\nit.k = int(os.environ['VALUE'])"),
    over("a context variable", "from c import it", "k = it.get()", ("environ", "1", "2"),
         c="import contextvars, os\nit = contextvars.ContextVar('it')\nit.set(int(os.environ['VALUE']))"),
    over("how far an iterator is", "from c import it", "k = next(it)", ("environ", "1", "2"),
         c="import itertools, os\nit = itertools.count(int(os.environ['VALUE']))"),
    over("what nobody can describe", "from c import it", """k = int(repr(it).split('"')[1])""", ("c", "b'1'", "b'2'"), "file",
         c="import ctypes\nnew = ctypes.pythonapi.PyCapsule_New\nnew.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]\nNAME = b'1'\nit = new(1, NAME, None)"),
    over("a list", "from c import it", "k = it[0]", ("c", "[1]", "[2]"), c="it = [1]"),
    over("a tuple that somebody has put into a module of Python's", "import math, c", "k = math.mine[0]", ("c", "(1", "(2"), "versioned",
         c="import math\nmath.mine = (1, 5)"),
    over("what somebody has put among Python's own names", "import c", "k = MINE['k']", ("c", "1", "2"), "versioned",
         c="import builtins\nbuiltins.MINE = {'k': 1}"),
    over("one of Python's own functions under the name of another", "import c", "k = 3 - len(oct(12)) // 2",
         ("c", "= builtins.oct", "= ascii"), "versioned", c="import builtins\nbuiltins.oct = builtins.oct"),
    over("what somebody has put into a module of Python's, by a name that it computes", "import math, c", "k = getattr(math, 'mi' + 'ne'.lower())",
         ("c", "= 1", "= 2"), "by text", c="import math\nmath.mine = 1"),
    over("a file by another class of files", "import io, os", "k = int(io.FileIO(os.path.join(os.path.dirname(__file__), 'c.py')).read()[-1:])",
         ("c", "K=1", "K=2"), "others", c="K=1"),
    over("a file by a function that was imported by name", "from io import open as o\nimport os",
         "k = int(o(os.path.join(os.path.dirname(__file__), 'c.py')).read()[-1])", ("c", "K=1", "K=2"), "others", c="K=1"),
    Look("a constant that somebody has put into NumPy", {"c": "import numpy\nnumpy.mine = 1",
         "a": "import c, numpy\n@numba.njit(cache=True)\ndef f(x):\n    return x * numpy.mine"}, ("c", "1", "2"), ("1", "2"), "versioned"),
    Look("a tuple that somebody has put into NumPy", {"c": "import numpy\nnumpy.mine = (1, 5)",
         "a": "import c, numpy\n@numba.njit(cache=True)\ndef f(x):\n    return x * numpy.mine[0]"}, ("c", "(1", "(2"), ("1", "2"), "versioned"),
    Look("a type of Numba's that is another", {"c": "numba.int64 = numba.int64",
         "a": "import c\n@numba.njit(cache=True)\ndef f(x):\n    return numba.int64(x)"},
         ("c", "= numba.int64", "= numba.float64"), ("1", "1.5"), "versioned", "import a; print(a.f(1.5))"),
    Look("a member of an enumeration of Python's that is another", {"c": "import signal\nsignal.SIGINT = signal.SIGINT",
         "a": "import c, signal\n@numba.njit(cache=True)\ndef f(x):\n    return x + signal.SIGINT"},
         ("c", "= signal.SIGINT", "= signal.SIGTERM"), ("3", "16"), "versioned"),
    Look("a constant of Python's that somebody has changed", {"c": "import math\nmath.pi = 1",
         "a": "import c, math\n@numba.njit(cache=True)\ndef f(x):\n    return x * math.pi"}, ("c", "= 1", "= 2"), ("1", "2"), "versioned"),
    Look("a jitted function that somebody has put into a module of Python's", {
        "c": "import math\n@numba.njit\ndef one(x):\n    return 1\n@numba.njit\ndef two(x):\n    return 2\nmath.mine = one",
        "a": "import c, math\n@numba.njit(cache=True)\ndef f(x):\n    return math.mine(x)"},
        ("c", "mine = one", "mine = two"), ("1", "2"), "versioned"),
    Look("a name that somebody has put among Python's own", {"c": "import builtins\nbuiltins.mine = 1",
         "a": "import c\n@numba.njit(cache=True)\ndef f(x):\n    return x * mine"}, ("c", "1", "2"), ("1", "2"), "versioned"),
    Look("an overload's body has a closure", {
        "o": OVERLOAD + "def make(made):\n    @overload(h)\n    def over(x):\n        k = made\n        return lambda x: x * k\nmake(1)",
        "a": USE}, ("o", "make(1)", "make(2)"), ("1", "2")),
    Look("what an overload returns names a global", {
        "o": OVERLOAD + "from c import K\n@overload(h)\ndef over(x):\n    return lambda x: x * K", "a": USE, "c": "K = 1"},
        ("c", "1", "2"), ("1", "2")),
    Look("what an overload returns calls a function", {
        "o": OVERLOAD + "from c import g\n@overload(h)\ndef over(x):\n    return lambda x: g(x)", "a": USE,
        "c": "from numba.extending import register_jitable\n@register_jitable\ndef g(x):\n    return x * 1"},
        ("c", "* 1", "* 2"), ("1", "2")),
    Look("a second function uses what the first has typed", {
        "o": OVERLOAD + "@overload(h)\ndef over(x):\n    import c\n    k = c.K\n    return lambda x: x * k", "c": "K = 1",
        "a": USE + "@numba.njit(cache=True)\ndef g(x):\n    return h(x) + 0\n"},
        ("c", "1", "2"), ("1 1", "2 2"), call="import a; print(a.f(1), a.g(1))"),
    Look("the functions that are overloaded are imported in another order", {
        "o": OVERLOAD, "p": "from o import *\n@overload(h)\ndef over(x):\n    return lambda x: 1",
        "q": "from o import *\n@overload(h)\ndef over(x):\n    return lambda x: 2", "r": "import p, q", "a": "import r" + USE},
        ("r", "p, q", "q, p"), ("1", "2"), "registered"),
    Look("an overload is registered that was not", {
        "o": OVERLOAD, "p": "from o import *\n@overload(h)\ndef over(x):\n    return lambda x: 1",
        "q": "from o import *\n@overload(h)\ndef over(x):\n    return lambda x: 2", "r": "import p", "a": "import r" + USE},
        ("r", "import p", "import q, p"), ("1", "2"), "registered"),
    Look("the kernel of a stencil", {"o": "@numba.stencil\ndef s(x):\n    return x[0] * 1",
         "a": "from o import s\n@numba.njit(cache=True)\ndef f(x):\n    return s(x)"},
         ("o", "* 1", "* 2"), ("[1.]", "[2.]"), "stencil", "import a, numpy; print(a.f(numpy.ones(1)))"),
    Look("the border of a stencil", {"o": "@numba.stencil(cval=1.0)\ndef s(x):\n    return x[1]",
         "a": "from o import s\n@numba.njit(cache=True)\ndef f(x):\n    return s(x)"},
         ("o", "cval=1.0", "cval=2.0"), ("[1.]", "[2.]"), "stencil", "import a, numpy; print(a.f(numpy.ones(1)))"),
    Look("a function that a stencil calls", {"c": "@numba.njit\ndef g(x):\n    return x * 1",
         "o": "from c import g\n@numba.stencil\ndef s(x):\n    return g(x[0])",
         "a": "from o import s\n@numba.njit(cache=True)\ndef f(x):\n    return s(x)"},
         ("c", "* 1", "* 2"), ("[1.]", "[2.]"), "stencil", "import a, numpy; print(a.f(numpy.ones(1)))"),
    Look("which member make_attribute_wrapper names", {
        "t": TYPE + "make_attribute_wrapper(ThingType, 'p', 'x')", "a": "import t\n@numba.njit(cache=True)\ndef f(v):\n    return v.x"},
        ("t", "'p', 'x'", "'q', 'x'"), ("10", "20"), call="import a; print(a.f(a.t.Thing()))"),
    Look("which members two wrappers name", {
        "t": TYPE + "from w import *\nmake_attribute_wrapper(ThingType, P, 'x')", "w": "P = 'p'",
        "a": "import t\n@numba.njit(cache=True)\ndef f(v):\n    return v.x"},
        ("w", "'p'", "'q'"), ("10", "20"), "registered", "import a; print(a.f(a.t.Thing()))"),
    Look("what type_callable says", {
        "o": "from numba.extending import type_callable, lower_builtin\nfrom numba.core import types\nfrom k import kind\n"
             "def h(x):\n    raise NotImplementedError\n@type_callable(h)\ndef typed(context):\n    def typer(x):\n"
             "        return getattr(types, kind)\n    return typer\n"
             "@lower_builtin(h, types.Integer)\ndef lower(context, builder, sig, args):\n"
             "    return context.cast(builder, args[0], sig.args[0], sig.return_type)",
        "k": "kind = 'int64'", "a": USE}, ("k", "int64", "float64"), ("1", "1.0")),
    Look("the body of lower_builtin", {
        "o": "from numba.extending import type_callable, lower_builtin\nfrom numba.core import types\n"
             "def h(x):\n    raise NotImplementedError\n@type_callable(h)\ndef typed(context):\n    return lambda x: types.int64\n"
             "@lower_builtin(h, types.Integer)\ndef lower(context, builder, sig, args):\n"
             "    import c\n    return context.get_constant(types.int64, c.K)",
        "c": "K = 1", "a": USE}, ("c", "1", "2"), ("1", "2")),
    Look("the cases of a ConcreteTemplate", {
        "o": "from numba.core import types\nfrom numba.core.typing.templates import ConcreteTemplate, infer_global, signature\n"
             "from numba.extending import lower_builtin\nfrom k import order\ndef h(x):\n    raise NotImplementedError\n"
             "cases = [signature(types.int64, types.int64), signature(types.float64, types.float64)]\n"
             "@infer_global(h)\nclass H(ConcreteTemplate):\n    pass\nH.cases = cases[:order]\n"
             "@lower_builtin(h, types.int64)\n@lower_builtin(h, types.float64)\n"
             "def lower(context, builder, sig, args):\n    return args[0]",
        "k": "order = 1", "a": "from o import h\n@numba.njit(cache=True)\ndef f(x):\n    return h(x)"},
        ("k", "1", "2"), ("1", "1.5"), "registered", "import a; print(a.f(1.5))"),
    Look("a model that replaces another after something was compiled", {
        "t": TYPE + "class Other(models.StructModel):\n    def __init__(self, manager, t):\n"
                    "        super().__init__(manager, t, [('q', types.int64), ('p', types.int64)])\n"
                    "make_attribute_wrapper(ThingType, 'p', 'x')",
        "a": "import os, t\n@numba.njit(cache=True)\ndef g(x):\n    return x\ng(1)\n@t.intrinsic\n"
             "def first(context, v):\n    def make(context, builder, sig, args):\n        return builder.extract_value(args[0], 0)\n"
             "    return t.types.int64(v), make\n@numba.njit(cache=True)\ndef f(v):\n    return first(v)\n"
             "if os.environ['VALUE'] == '2':\n    t.register_model(t.ThingType)(t.Other)"},
        ("environ", "1", "2"), ("10", "20"), "registered", "import a; print(a.f(a.t.Thing()))"),
    Look("a method of a type", {
        "t": TYPE + "from k import K\n@overload_method(ThingType, 'm')\ndef m(v):\n    k = K\n    return lambda v: k", "k": "K = 1",
        "a": "import t\n@numba.njit(cache=True)\ndef f(v):\n    return v.m()"},
        ("k", "1", "2"), ("1", "2"), call="import a; print(a.f(a.t.Thing()))"),
    Look("what an intrinsic reads", {
        "o": "from numba.extending import intrinsic\nfrom numba.core import types\nimport c\n@intrinsic\ndef h(context, x):\n"
             "    def make(context, builder, sig, args):\n        return context.get_constant(types.int64, getattr(c, 'K' + str(len('ab'))))\n"
             "    return types.int64(x), make", "c": "K2 = 1", "a": USE}, ("c", "= 1", "= 2"), ("1", "2")),
    Look("a global that was set before a callee was compiled", {
        "a": "import os\nZ = 1\n@numba.njit\ndef g(x):\n    return x * Z\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)\n"
             "if os.environ['VALUE'] == '1':\n    g(1)\nZ = 2"},
        ("environ", "1", "2"), ("1", "2"), "check,earlier states"),
    over("a file beside its module, by what imported that", "import pkgutil", "k = int(pkgutil.get_data('o', 'c.py')[-1:])",
         ("c", "K=1", "K=2"), "others", c="K=1"),
]  # fmt: skip
#: One for each mechanism, and for each kind of form.
CONTROLS = [row for n, row in enumerate(LOOKS) if row.without != "records" or n % 6 == 0]


def environment(row: Look, which: int) -> dict[str, str]:
    return {"VALUE": row.change[1 + which] if row.change[0] == "environ" else ""}


def change(project: Project, row: Look) -> None:
    module, old, new = row.change
    if module != "environ":
        path = project.folder / f"{module}.py"
        assert path.read_text().count(old) >= 1
        path.write_text(path.read_text().replace(old, new))


def assert_change_is_seen(project: Project, row: Look) -> None:
    project.write(**row.modules)
    assert project.check(row.call, **environment(row, 0)).out == row.right[0]
    change(project, row)
    assert project.check(row.call, **environment(row, 1)).out == row.right[1]


def assert_plain_numba_gives_it(project: Project, row: Look) -> None:
    """Assert that what is right after the change is what Numba gives without a cache."""
    project.write(**row.modules)
    change(project, row)
    assert project.plain(row.call, **environment(row, 1)) == row.right[1]


def assert_old_result_without(project: Project, row: Look) -> None:
    """Assert that without the row's mechanism the result from before the change is served."""
    project.write(**row.modules)
    without = f"others,{row.without}"
    assert project.check(row.call, WITHOUT=without, **environment(row, 0)).out == row.right[0]
    change(project, row)
    assert project.check(row.call, WITHOUT=without, **environment(row, 1)).out == row.right[0]


def checks_of(rows: list[Look], controls: list[Look] | None = None) -> tuple[Callable[..., None], ...]:
    """Return the tests of rows, as functions for pytest. Without ``controls`` each row has one."""

    @pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])
    def is_seen(project: Project, row: Look) -> None:
        assert_change_is_seen(project, row)

    @pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])
    def is_right(project: Project, row: Look) -> None:
        assert_plain_numba_gives_it(project, row)

    chosen = rows if controls is None else controls

    @pytest.mark.parametrize("row", chosen, ids=[row.name for row in chosen])
    def is_old(project: Project, row: Look) -> None:
        assert_old_result_without(project, row)

    return is_seen, is_right, is_old


(
    test_a_change_is_seen,
    test_what_is_right_after_it_is_what_a_plain_numba_gives,
    test_without_the_mechanism_the_old_result_is_served,
) = checks_of(LOOKS, CONTROLS)


class Same(NamedTuple):
    """What must not count: a piece of code before and after. The second time nothing is compiled."""

    name: str
    modules: dict[str, str]
    before: str
    after: str


PACKAGE = "from numba.extending import overload\ndef other(x):\n    raise NotImplementedError\n@overload(other)\ndef over(x):\n    return lambda x: 5\n"
CELL = """
import numba, collections, enum
P = collections.namedtuple("P", "x")
class E(enum.Enum):
    A = 1
@numba.njit(cache=True)
def f(p):
    return p.x + 1
@numba.njit(cache=True)
def g(p):
    return P(p.x + 1)
@numba.njit(cache=True)
def h(e):
    return 1 if e == E.A else 2
p = g(P(1))
print(f(P(1)), p, type(p) is P, h(E.A))
"""
INTRINSIC = """
from numba.extending import intrinsic
from numba.core import types
@intrinsic
def i(context, x):
    def make(context, builder, sig, args):
        return args[0]
    return types.int64(types.int64), make
"""
SAME = [
    Same("an unrelated package with an overload", {"p": PACKAGE, "o": OVERLOAD + "@overload(h)\ndef over(x):\n    return lambda x: 1", "a": USE},
         "import a; print(a.f(1))", "import p, a; print(a.f(1))"),
    Same("the order of unrelated packages", {"p": PACKAGE, "o": OVERLOAD + "@overload(h)\ndef over(x):\n    return lambda x: 1", "a": USE},
         "import p, a; print(a.f(1))", "import a, p; print(a.f(1))"),
    Same("an overload for another type of the same name", {
        "p": TYPE + "from numba.extending import lower_builtin\n@lower_builtin(operator.add, ThingType, ThingType)\n"
                    "def add(context, builder, sig, args):\n    return args[0]\n"
                    "@overload(operator.mul)\ndef mul(x, y):\n    if isinstance(x, ThingType):\n        return lambda x, y: 1",
        "a": "@numba.njit(cache=True)\ndef f(x):\n    return x * 3 + 1"},
        "import a; print(a.f(1))", "import p, a; print(a.f(1))"),
    Same("what an overload looks up by a type of Numba's", {
        "p": "from numba import types\nfrom numba.extending import overload\nK = {types.float64: 1, types.complex64: 2}\n"
             "def g(x):\n    pass\n@overload(g)\ndef og(x):\n    k = K[x]\n    return lambda x: k",
        "a": "import p\n@numba.njit(cache=True)\ndef f(x):\n    return p.g(x)"},
        "import a; print(a.f(1.0))", "import a; print(a.f(1.0))"),
    Same("the first function with an intrinsic", {"o": INTRINSIC, "a": "from o import i\n@numba.njit(cache=True)\ndef f(x):\n    return i(x)\n"
         "@numba.njit(cache=True)\ndef g(x):\n    return i(x) + 1\n@numba.njit(cache=True)\ndef k(x):\n    return x + 1"},
        "import a; print(a.f(1), a.g(1), a.k(1))", "import a; print(a.k(1), a.g(1), a.f(1))"),
    Same("a cell that is run again", {"a": ""}, f"for _ in range(2):\n    exec({CELL!r}, globals())",
         f"for _ in range(2):\n    exec({CELL!r}, globals())"),
    Same("a comment in the file of a function", {"a": "# one\n@numba.njit(cache=True)\ndef f(x):\n    return x + 1"},
         "import a; print(a.f(1))", "import a; print(a.f(1))"),
    Same("a callee that was called before", {"a": "@numba.njit(cache=True)\ndef g(x):\n    return x + 1\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)"},
         "import a; print(a.f(1))", "import a; a.g(1); print(a.f(1))"),
    Same("a callee that is found in the cache", {"a": "@numba.njit(cache=True)\ndef g(x):\n    return x + 1\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)"},
         "import a; a.g(1); print(a.f(1))", "import a; print(a.f(1))"),
]  # fmt: skip


@pytest.mark.parametrize("row", SAME, ids=[r.name for r in SAME])
def test_what_does_not_matter_is_a_hit(project: Project, row: Same) -> None:
    project.write(**row.modules)
    told = "\nfrom jitcache.adapters import numba as j\nprint(j.uncached())"
    first = project.check(row.before + told)
    assert first.compiled
    second = project.check(row.after + told)
    assert first.out.splitlines()[-1] == "{}"
    assert (second.compiled, second.out.splitlines()[-1]) == ([], "{}")
    # Numba itself refuses to cache what has no file.
    plain = project.plain(row.after.replace("(cache=True)", ""))
    assert second.out.splitlines()[:-1] == plain.splitlines()


SET = """
import enum
E = enum.Enum("E", list("ABCDEFGH"))
K = frozenset(E)
"""


@pytest.mark.parametrize("without", ["", "order"])
def test_order_of_a_set_does_not_matter(project: Project, without: str) -> None:
    """It is another in each process, and here in those that are started with another seed for hashes."""
    project.write(o=OVERLOAD + SET + "@overload(h)\ndef over(x):\n    k = len(K)\n    return lambda x: x * k", a=USE)
    first, second = (
        project.check("import a; print(a.f(1))", WITHOUT=f"others,{without}", PYTHONHASHSEED=seed)
        for seed in ("1", "2")
    )
    assert (first.out, second.out) == ("8", "8")
    assert (second.compiled == []) == (without == "")


def test_a_cell_that_is_run_again_is_compiled_again_only_where_its_code_makes_objects(project: Project) -> None:
    ran = project.check(f"for _ in range(2):\n    exec({CELL!r}, globals())")
    assert sorted(ran.compiled) == ["f", "g", "g", "h"]


def test_packages_of_the_interpreter_below_are_no_part_of_python(project: Project, tmp_path: Path) -> None:
    """A virtual environment that sees its base interpreter's packages has them below the standard library's folder."""
    program = (
        "import sys, sysconfig\n"
        f"base = {str(tmp_path)!r}\n"
        "paths = dict(sysconfig.get_paths(), stdlib=base + '/lib', platstdlib=base + '/lib', purelib='/venv', platlib='/venv')\n"
        "sysconfig.get_paths = lambda *a, **k: paths\n"
        "from jitcache import _code\n"
        "print(*(_code.is_standard(base + p) for p in ('/lib/re.py', '/lib/site-packages/p.py', '/lib/dist-packages/p.py')))\n"
    )
    env = project.environment("none")
    ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "False", "False"]
