"""What was decided before the compile, and what does not say what it is: found by somebody who tried to get old results.

The rows are as those of ``test_looks``.
"""

from __future__ import annotations

import pytest
from project import Project
from test_looks import OVERLOAD, USE, Look, checks_of, over
from test_objects import thing

FACTORY = (
    OVERLOAD + "from numba.core import types\nfrom d import K\n"
    "def make(kind, k):\n    @overload(h)\n    def over(x):\n        if isinstance(x, kind):\n            return lambda x: x * k\n"
)
CHANGE = ("d", "K = 1", "K = 2")
GET = "def get():\n    return int(os.environ['VALUE'])"


def memo(name: str, decorator: str, get: str = GET, body: str = "k = get()") -> Look:
    """Return an overload whose body asks a memoised function, which was asked before."""
    return over(
        f"what a helper remembers, {name}",
        "from c import get\nget()",
        body,
        ("environ", "1", "2"),
        "others",
        c=f"import functools, os\n{decorator}\n{get}",
    )


def callee(name: str, made: str) -> Look:
    """Return a function whose callee was compiled before something changed that is in no module."""
    return Look(
        f"a callee that was compiled before {name}",
        {
            "a": f"import os, numpy\n{made}\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)\n"
            "if os.environ['VALUE'] == '1':\n    g(1)\nput(2)"
        },
        ("environ", "1", "2"),
        ("1", "2"),
        "earlier states",
    )


CELL = (
    "def make():\n    k = 1\n    @numba.njit\n    def g(x):\n        return x * k\n"
    "    def put(value):\n        nonlocal k\n        k = value\n    return g, put\ng, put = make()"
)
ROWS = [
    Look("the second of two overloads that one function makes", {
        "o": FACTORY + "make(types.Float, 100)\nmake(types.Integer, K)", "a": USE, "d": "K = 1"}, CHANGE, ("1", "2"), "position"),
    memo("without a bound", "@functools.lru_cache(maxsize=None)"),
    memo("with a bound", "@functools.lru_cache"),
    memo("an object", "class A:\n    def __init__(self):\n        self.k = int(os.environ['VALUE'])\n@functools.lru_cache",
         "def get():\n    return A()", "k = get().k"),
    Look("what a helper remembers, since another function was compiled", {
        "c": f"import functools, os\n@functools.lru_cache\n{GET}",
        "o": OVERLOAD + "from c import get\ndef h2(x):\n    raise NotImplementedError\n@overload(h)\ndef over(x):\n    k = get()\n    return lambda x: x * k\n"
             "@overload(h2)\ndef over2(x):\n    k = get()\n    return lambda x: x * k",
        "a": "from o import h, h2\n@numba.njit(cache=True)\ndef f(x):\n    return h(x)\n@numba.njit(cache=True)\ndef g(x):\n    return h2(x)"},
        ("environ", "1", "2"), ("1 1", "2 2"), "others", "import a; print(a.f(1), a.g(1))"),
    callee("its closure changed", CELL),
    callee("the names changed that it was made with", "space = {'numba': numba, 'Z': 1}\nexec('@numba.njit\\ndef g(x):\\n    return x * Z', space)\n"
           "g = space['g']\ndef put(value):\n    space['Z'] = value"),
    callee("an array in its closure changed", "def make(z):\n    @numba.njit\n    def g(x):\n        return x * z[0]\n    return g\n"
           "z = numpy.ones(3, 'i8')\ng = make(z)\ndef put(value):\n    z[0] = value"),
    thing("a class of make_dataclass, which says that it is Python's", "import dataclasses\nit = dataclasses.make_dataclass('it', [('k', int, dataclasses.field(default=K))])", without="whose class"),
    thing("a class of new_class", "import types\nit = types.new_class('it', (), {}, lambda space: space.update(k=K))", without="whose class"),
    thing("a class that ABCMeta was called for", "import abc\nit = abc.ABCMeta('it', (), {'k': K})", without="whose class"),
    thing("a class that says it is Python's", "class it:\n    k = K\n    __module__ = 'builtins'", without="whose class"),
    thing("what a type variable stands for", "import typing\nit = typing.TypeVar('it', *[int, float, str][:K + 1])", "k = len(it.__constraints__) - 1", "behind a name"),
    thing("the type that a new type is made of", "import typing\nit = typing.NewType('it', [int, float][K - 1])", "k = 1 if it.__supertype__ is int else 2", "behind a name"),
    over("a variable, in a thread of its own", "import os, threading", "r = []\nt = threading.Thread(target=lambda: r.append(int(os.environ['VALUE'])))\nt.start()\nt.join()\nk = r[0]",
         ("environ", "1", "2"), "others"),
    *(over(f"a variable of the environment by {name}", "import copy, os", f"k = int({how})", ("environ", "1", "2"), "others")
      for name, how in {
          "the dictionary behind": "os.environ._data[b'VALUE']", "a name of that which is made": "getattr(os.environ, '_da' + 'ta')[b'VALUE']",
          "all attributes": "vars(os.environ)['_data'][b'VALUE']", "a copy": "copy.copy(os.environ)['VALUE']",
          "a pickle": "os.environ.__reduce_ex__(4)[2]['_data'][b'VALUE']", "that as bytes": "os.environb._data[b'VALUE']",
      }.items()),
    over("a list by a name that it makes, in which is what a third module has", "import c", "k = getattr(c, 'k'.upper())[0]", CHANGE,
         "whatever holds it", c="import d\nK = [d.K]", d="K = 1"),
    over("an array by a name that it makes, in a dictionary", "import c", "k = int(getattr(c, 'k'.upper())['k'][0])", CHANGE,
         "whatever holds it", c="import d, numpy\nK = {'k': numpy.array([d.K])}", d="K = 1"),
    *(Look(f"what a caller holds, by {name}", {
          "o": f"{OVERLOAD}import inspect, sys\n@overload(h)\ndef over(x):\n    {how}\n    while 'mine' not in frame.f_locals:\n"
               "        frame = frame.f_back\n    k = frame.f_locals['mine']\n    return lambda x: x * k",
          "a": USE + "import d\ndef run():\n    mine = d.K\n    return f(1)", "d": "K = 1"},
          CHANGE, ("1", "2"), "others", "import a; print(a.run())")
      for name, how in {
          "a frame": "frame = sys._getframe()", "the present frame": "frame = inspect.currentframe()",
          "an exception": "try:\n        1 / 0\n    except ZeroDivisionError as e:\n        frame = e.__traceback__.tb_frame",
      }.items()),
    over("how many variables there are", "import os\nB = len(os.environ)\nimport c", "k = len(os.environ) - B", CHANGE, "others",
         c="import os\n[os.environ.setdefault(f'MINE{n}', '') for n in range(__import__('d').K)]", d="K = 1"),
]  # fmt: skip


(
    test_a_change_is_seen,
    test_what_is_right_after_it_is_what_a_plain_numba_gives,
    test_without_the_mechanism_the_old_result_is_served,
) = checks_of(ROWS)


TOLD = "; from jitcache.adapters import numba as j; print(j.uncached())"


@pytest.mark.parametrize("without", ["", "earlier states"])
def test_callee_that_is_loaded_before_it_changes_is_in_no_other_entry(project: Project, without: str) -> None:
    project.write(a=next(row for row in ROWS if "its closure" in row.name).modules["a"])
    call = "import a; print(a.f(1))"
    found = [project.check(call, "everything", WITHOUT=without, VALUE=value).out for value in ("1", "1", "2")]
    assert found == (["1", "1", "1"] if without else ["1", "1", "2"])


@pytest.mark.parametrize("without", ["", "itself"])
def test_function_that_calls_itself_is_compiled_before_its_own_name_is_there(project: Project, without: str) -> None:
    project.write(
        a="@numba.njit('int64(int64)')\ndef g(x):\n    return 1 if x < 2 else g(x - 1) + g(x - 2)\n"
        "@numba.njit\ndef f(x):\n    return g(x)"
    )
    for _ in range(2):
        ran = project.check("import a; print(a.f(9))" + TOLD, "everything", WITHOUT=without)
    assert ran.out.splitlines()[0] == "55"
    assert (ran.out.splitlines()[1] == "{}") == (not without)


@pytest.mark.parametrize("without", ["", "versions"])
def test_assertions_that_are_left_out_count(project: Project, without: str) -> None:
    """Compile-time code counts by its file, which is the same with ``python -O``."""
    project.write(
        c="def get():\n    return 1 if __debug__ else 2",
        o=OVERLOAD
        + "import c\n@overload(h)\ndef over(x):\n    k = getattr(c, 'ge' + 't' * len('a'))()\n    return lambda x: x * k",
        a=USE,
    )
    call = "import a; print(a.f(1))"
    without = without and f"others,{without}"
    assert project.check(call, WITHOUT=without).out == "1"
    assert project.check(call, WITHOUT=without, PYTHONOPTIMIZE="1").out == ("1" if without else "2")


LAZY = """
import importlib.util, sys, threading
spec = importlib.util.find_spec("lazy")
spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules["lazy"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["lazy"])
L = threading.Lock()
@overload(h)
def over(x):
    k = 1 + L.locked()
    return lambda x: x * k
"""


@pytest.mark.parametrize("without", ["", "lazy"])
def test_module_that_is_imported_when_it_is_asked_is_not_asked(project: Project, without: str) -> None:
    project.write(o=OVERLOAD + LAZY, lazy="print('imported')", a=USE)
    call = "import a; print(a.f(1))"
    assert project.check(call, WITHOUT=without).out == ("imported\n1" if without else "1")


WARNS = """
import warnings
@overload(h)
def over(x):
    warnings.warn("mine", DeprecationWarning)
    return lambda x: x
"""
CAUGHT = """
import a, os, warnings
with warnings.catch_warnings(record=True) as log:
    warnings.simplefilter(os.environ["FILTER"])
    print(a.f(1))
print(len(log), [(w.category.__name__, os.path.basename(w.filename), w.lineno, str(w.message)) for w in log])
"""


def test_warning_that_was_hidden_is_shown_where_it_is_not(project: Project) -> None:
    """And also one that is not Numba's: Numba's front end gives it in each process."""
    project.write(o=OVERLOAD + WARNS, a=USE)
    plain = project.plain(CAUGHT, FILTER="always")
    assert "DeprecationWarning" in plain
    assert project.check(CAUGHT, FILTER="ignore").out == "1\n0 []"
    again = project.check(CAUGHT, FILTER="always")
    assert (again.out, again.by_llvm) == (plain, [])


def test_without_the_rule_a_hit_does_not_give_a_warning(project: Project) -> None:
    project.write(o=OVERLOAD + WARNS, a=USE)
    assert project.check(CAUGHT, FILTER="ignore", WITHOUT="others").out == "1\n0 []"
    again = project.check(CAUGHT, FILTER="always", WITHOUT="others")
    assert (again.out, again.compiled) == ("1\n0 []", [])


def test_warning_that_a_program_makes_an_error_is_one_again(project: Project) -> None:
    project.write(o=OVERLOAD + WARNS, a=USE)
    assert project.check("import a; print(a.f(1))").out == "1"
    ran = project.run("import warnings\nwarnings.simplefilter('error')\nimport a; print(a.f(1))")
    assert (ran.status, ran.err.splitlines()[-1]) == (1, "DeprecationWarning: mine")


def test_function_that_is_called_within_a_parallel_loop_and_outside_is_unchanged(project: Project) -> None:
    """Numba compiles it for both, and sets a switch meanwhile."""
    project.write(
        a="""
        @numba.njit
        def g(x, k):
            return x[k] * 2

        @numba.njit(parallel=True)
        def inner(x):
            s = 0.0
            for i in numba.prange(x.size):
                s += g(x, i)
            return s

        @numba.njit(parallel=True)
        def f(x):
            s = 0.0
            for i in numba.prange(2):
                s += inner(x)
            return s + inner(x) + g(x, 0)
        """
    )
    code = "import a, numpy; print(a.f(numpy.ones(3)), a.inner(numpy.ones(3)))"
    assert project.check(code, "everything").out == "20.0 6.0"
    again = project.check(code, "everything")
    assert (again.out, again.compiled) == ("20.0 6.0", [])
