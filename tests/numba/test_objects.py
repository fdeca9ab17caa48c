"""What Python code finds in objects, asks of the world, and what is decided when something is decorated.

The rows are as those of ``test_looks``, found by somebody who had not read these.
"""

from __future__ import annotations

import pytest
from project import Project
from test_looks import OVERLOAD, Look, checks_of, over

CALLS = "from c import g\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)"


def thing(name: str, c: str, body: str = "k = it.k", without: str = "held", **more: str) -> Look:
    """Return an overload whose body looks at ``it``, of a module ``c``, which has K of another one."""
    return over(
        name, "from c import it", body, ("d", "K = 1", "K = 2"), without, c="from d import K\n" + c, d="K = 1", **more
    )


ROWS = [
    thing("an attribute of a dictionary of somebody's class", "class A(dict):\n    pass\nit = A()\nit.k = K"),
    thing("an attribute of a list of somebody's class", "class A(list):\n    pass\nit = A()\nit.k = K"),
    thing("an attribute of a tuple of somebody's class", "class A(tuple):\n    pass\nit = A()\nit.k = K"),
    thing("an attribute of a set of somebody's class", "class A(set):\n    pass\nit = A()\nit.k = K"),
    thing("the class of a dictionary", "class A(dict):\n    k = K\nit = A()"),
    thing("what a dictionary gives for what it lacks", "import collections, functools\nit = collections.defaultdict(functools.partial(max, K))", "k = it.default_factory.args[0]"),
    thing("an attribute of an array of somebody's class", "import numpy\nclass A(numpy.ndarray):\n    pass\nit = numpy.zeros(2).view(A)\nit.k = K"),
    thing("the class of an array", "import numpy\nclass A(numpy.ndarray):\n    k = K\nit = numpy.zeros(2).view(A)"),
    thing("the class of a number of NumPy's", "import numpy\nclass A(numpy.float64):\n    k = K\nit = A(1)"),
    thing("a private slot", "class A:\n    __slots__ = ('__k',)\n    def get(self):\n        return self.__k\nit = A()\nit._A__k = K", "k = it.get()"),
    thing("an attribute that pickles of an object leave out", "class A(Exception):\n    def __reduce__(self):\n        return A, ()\nit = A()\nit.k = K"),
    thing("an attribute of an enumeration's member", "import enum\nclass E(enum.Enum):\n    X = 1\nE.X.k = K\nit = E", "k = it.X.k", "given"),
    thing("the class of a partial", "import functools\nclass A(functools.partial):\n    k = K\nit = A(max)", without="set on"),
    thing("what somebody has set on a partial", "import functools\nit = functools.partial(max)\nit.k = K", without="set on"),
    thing("the class of a mapping that is seen through a view", "import types\nclass A(dict):\n    __getitem__ = [0, K].__getitem__\nit = types.MappingProxyType(A())", "k = it[1]", "proxy"),
    thing("what an abstract class is told to take for its own", "import abc\nclass it:\n    class B(abc.ABC):\n        pass\n    class X:\n        pass\n    class Y:\n        pass\nit.B.register([it.X, it.Y][K - 1])", "k = 1 + isinstance(it.Y(), it.B)", "told"),
    thing("what one below Python's abstract class is told", "import numbers\nclass X:\n    pass\nclass it:\n    base = numbers.Number\nnumbers.Integral.register([X, it][K - 1])", "k = 1 + isinstance(it(), it.base)", "told"),
    thing("a pattern", "import re\nit = re.compile('a' * K)", "k = len(it.pattern)", "reduced"),
    thing("what a reference leads to", "import weakref\nclass A:\n    pass\na = A()\na.k = K\nit = weakref.ref(a)", "k = it().k", "reference"),
    thing("the name of a class", "class it:\n    pass\nit.__name__ = 'a' * K", "k = len(it.__name__)", "class"),
    thing("the number that a member of an enumeration is", "import enum\nclass E(int, enum.Enum):\n    def __new__(cls, value, number):\n        member = int.__new__(cls, number)\n        member._value_ = value\n        return member\n    X = 'x', K\nit = E", "k = it.X + 0", "given"),
    thing("what is attached to a type of elements", "import numpy\nit = numpy.dtype('i4', metadata={'k': K})", "k = it.metadata['k']", "dtype"),
    thing("what is attached to a field", "import numpy\nit = numpy.dtype([('x', numpy.dtype('i4', metadata={'k': K}))])", "k = it['x'].metadata['k']", "dtype"),
    over("an annotation of a class", "from c import it", "k = 1 if it.__annotations__['x'] is int else 2", ("d", "int", "float"), "said",
         c="from d import T\nclass it:\n    x: T", d="T = int"),
    over("an annotation of a class that is a text", "from c import it\nimport typing", "k = 1 if typing.get_type_hints(it)['x'] is int else 2", ("d", "int", "float"), "said",
         c="from d import T\nclass it:\n    x: 'T'", d="T = int"),
    over("an annotation of a function", "from c import it", "k = 1 if it.__annotations__['x'] is int else 2", ("d", "int", "float"), "said",
         c="from d import T\ndef it(x: T):\n    pass", d="T = int"),
    over("the text of a class", "from c import it", "k = int(it.__doc__)", ("c", "'1'", "'2'"), "said", c="class it:\n    '1'"),
    over("what its module has, by a computed name", "from d import *", "k = globals()['K' + str(len('ab'))]", ("d", "= 1", "= 2"), "by text", d="K2 = 1"),
    over("whether a module is imported", "import sys, c", "k = 2 if 'd' in sys.modules else 1", ("c", "pass", "import d"), "versioned", c="pass", d=""),
    over("a module by its name", "import sys, c", "k = sys.modules['d'].K", ("e", "= 1", "= 2"), "versioned", c="import d", d="from e import K", e="K = 1"),
    over("whether a module can be imported", "import c", "try:\n    import mine\n    k = 2\nexcept ImportError:\n    k = 1", ("c", "none", "there"), "others",
         c="import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'none'))", **{"there/mine": ""}),
    over("whether a module would be found", "import importlib.util, c", "k = 2 if importlib.util.find_spec('mine') else 1", ("c", "none", "there"), "others",
         c="import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'none'))", **{"there/mine": ""}),
    over("the folder that the process is in", "import os, c", "k = len(os.path.basename(os.getcwd()))", ("c", "'a'", "'aa'"), "others",
         c="import os\nos.makedirs('a', exist_ok=True)\nos.makedirs('aa', exist_ok=True)\nos.chdir('a')"),
    over("where a link leads", "import os, c", "k = int(os.readlink(c.path))", ("environ", "1", "2"), "others",
         c="import os\npath = os.path.join(os.path.dirname(__file__), 'link')\nif os.path.lexists(path):\n    os.unlink(path)\nos.symlink(os.environ['VALUE'], path)"),
    Look("a module that was changed after a compile had imported it", {
        "o": OVERLOAD + "@overload(h)\ndef over(x):\n    import c\n    k = c.K\n    return lambda x: x * k", "c": "K = 2",
        "a": "from o import h\n@numba.njit(cache=True)\ndef f(x):\n    return h(x)"},
        ("environ", "1", "2"), ("1.0", "2.0"), "others", "import a, os\na.f(1)\nif os.environ['VALUE'] == '1':\n    import c\n    c.K = 1\nprint(a.f(1.0))"),
    Look("a property of a module", {
        "c": "import sys, types\nfrom d import V\nclass M(types.ModuleType):\n    @property\n    def K(self):\n        return V\nsys.modules[__name__].__class__ = M",
        "d": "V = 1", "a": "import c\n@numba.njit(cache=True)\ndef f(x):\n    return x * c.K"}, ("d", "1", "2"), ("1", "2"), "class of a module"),
    Look("the type that a function with a signature returns", {
        "c": "from d import S\n@numba.njit(S)\ndef g(x):\n    return x / 2", "d": "S = 'float64(int64)'", "a": CALLS},
        ("d", "float64", "int64"), ("0.5", "0"), "returns"),
    Look("the type that a function with a signature returns, of a callee's callee", {
        "c": "from e import q\n@numba.njit\ndef g(x):\n    return q(x)", "e": "from d import S\n@numba.njit(S)\ndef q(x):\n    return x / 2",
        "d": "S = 'float64(int64)'", "a": CALLS}, ("d", "float64", "int64"), ("0.5", "0"), "returns"),
    Look("the identity of a ufunc", {
        "c": "from d import I\n@numba.vectorize(['float64(float64, float64)'], identity=I)\ndef v(x, y):\n    return x * 2 + y", "d": "I = 0",
        "a": "import numpy\nfrom c import v\n@numba.njit(cache=True)\ndef f(x):\n    return v.reduce(x)"},
        ("d", "0", "1"), ("11.0", "19.0"), "states", "import a; print(a.f(a.numpy.arange(1., 4)))"),
    Look("the defaults that a function had when it was decorated", {
        "c": "from d import K\n@numba.njit\ndef g(x, k=K):\n    return x * k\ng.py_func.__defaults__ = (7,)", "d": "K = 1", "a": CALLS},
        ("d", "1", "2"), ("1", "2"), "parameters"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def with_folder(project: Project) -> None:
    """Make the folder that some rows name."""
    (project.folder / "there").mkdir()


(
    test_a_change_is_seen,
    test_what_is_right_after_it_is_what_a_plain_numba_gives,
    test_without_the_mechanism_the_old_result_is_served,
) = checks_of(ROWS)


PARTS = """
import numba
@numba.njit(parallel={"prange": False})
def f(x):
    s = 0.0
    for i in numba.prange(4):
        s += x
    return s
print(f(1.0), f.overloads[f.signatures[0]].metadata["parfor_diagnostics"].count_parfors())
"""
TOLD = "from jitcache.adapters import numba as j\nprint(j.uncached())"


def test_options_in_parts_are_left_as_they_are(project: Project) -> None:
    """Numba takes the parts out of what it is given: whoever looks first must not."""
    plain = project.plain(PARTS)
    assert project.check(PARTS + TOLD, "everything").out == plain + "\n{}"
    again = project.check(PARTS + TOLD, "everything")
    assert (again.out.splitlines()[0].split()[0], again.out.splitlines()[-1]) == (plain.split()[0], "{}")


def test_without_a_copy_of_them_others_are_compiled(project: Project) -> None:
    plain = project.plain(PARTS)
    assert project.check(PARTS, "everything", WITHOUT="given options").out != plain
