"""What changes between two processes: ours, Numba's own, and ours with a mechanism taken out.

Each row runs one piece of code in two processes, with a change in between. Ours
must be right and compile as often as said; Numba's own gives what the row says
of it; without the mechanism that the row names, ours must be wrong too.
"""

from __future__ import annotations

import os
import shutil
from typing import Callable, NamedTuple

import numba
import pytest
from project import Project

VERSION = tuple(int(n) for n in numba.__version__.split(".")[:2])
#: From 0.68 on Numba stamps with the content of the file.
CONTENT = VERSION >= (0, 68)
#: After 0.61 code from its cache calls the function of guvectorize that is in the process.
FOUND = VERSION > (0, 61)


class Row(NamedTuple):
    """A change, and what comes of it."""

    name: str
    modules: dict[str, str]
    code: str
    right: tuple[str, str]  # what is printed before and after
    numba: str | tuple[str, int]  # what Numba's own prints after; with the compiles, where those differ
    without: str
    change: Callable[[Project], object] = lambda _: None
    env: dict[str, str] = {}  # of the second process
    compiles: int = 1  # of ours in the second process
    before: dict[str, str] = {}  # of the first


def rewrite(module: str, old: str, new: str, *, keep_time: bool = False) -> Callable[[Project], None]:
    def change(project: Project) -> None:
        path = project.folder / f"{module}.py"
        stat = path.stat()
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        if keep_time:
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        else:
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))

    return change


def touch(project: Project) -> None:
    for path in project.folder.glob("*.py"):
        os.utime(path, (1e9, 1e9))


def move(project: Project) -> None:
    shutil.copytree(project.folder, project.folder / "elsewhere", ignore=shutil.ignore_patterns("__pycache__"))
    for path in project.folder.glob("*.py"):
        path.unlink()


F = """
@numba.njit(cache=True)
def f(x):
    return x + Z
"""

OVERLOAD = """
from numba.extending import overload
def h(x):
    raise NotImplementedError
@overload(h)
def over(x):
    return lambda x: x * 10
"""

ROWS = [
    Row(
        "a callee in another file is edited",
        {"b": "@numba.njit\ndef g(x):\n    return x * 10", "a": "from b import g\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)"},
        "import a; print(a.f(1))", ("10", "20"), "10", "callees", rewrite("b", "10", "20"), compiles=2,
    ),
    Row(
        "a callee of a callee is edited, in a third file",
        {"c": "@numba.njit\ndef h(x):\n    return x * 10", "b": "from c import h\n@numba.njit(cache=True)\ndef g(x):\n    return h(x)",
         "a": "from b import g\n@numba.njit(cache=True)\ndef f(x):\n    return g(x)"},
        "import a; print(a.f(1))", ("10", "20"), "10", "callees", rewrite("c", "10", "20"), compiles=3,
    ),
    Row("a global that comes from another file changes", {"conf": "Z = 1", "a": "from conf import Z" + F},
        "import a; print(a.f(1))", ("2", "6"), "2", "globals", rewrite("conf", "1", "5")),
    Row("an attribute of another module changes", {"conf": "Z = 1", "a": "import conf\n@numba.njit(cache=True)\ndef f(x):\n    return x + conf.Z"},
        "import a; print(a.f(1))", ("2", "6"), "2", "globals", rewrite("conf", "1", "5")),
    Row("an attribute of a module changes of which the caller uses another",
        {"conf": "Y = 1\nZ = 1", "b": "import conf\n@numba.njit\ndef g(x):\n    return x + conf.Z",
         "a": "import conf\nfrom b import g\n@numba.njit(cache=True)\ndef f(x):\n    return g(x) * conf.Y"},
        "import a; print(a.f(1))", ("2", "6"), "2", "callees", rewrite("conf", "Z = 1", "Z = 5"), compiles=2),
    Row("an attribute of a module in a package changes",
        {"pack": "import conf as sub", "conf": "Z = 1",
         "a": "import pack\n@numba.njit(cache=True)\ndef f(x):\n    return x + pack.sub.Z"},
        "import a; print(a.f(1))", ("2", "6"), "2", "globals", rewrite("conf", "Z = 1", "Z = 5")),
    Row("a member of an enumeration in another file changes",
        {"conf": "import enum\nclass C(enum.IntEnum):\n    Z = 1", "a": "from conf import C\n@numba.njit(cache=True)\ndef f(x):\n    return x + C.Z"},
        "import a; print(a.f(1))", ("2", "6"), "2", "globals", rewrite("conf", "1", "5")),
    Row("an array in another file changes",
        {"conf": "import numpy\nZ = numpy.array([1, 2])", "a": "from conf import Z\n@numba.njit(cache=True)\ndef f(x):\n    return x + Z[0]"},
        "import a; print(a.f(1))", ("2", "6"), "2", "globals", rewrite("conf", "[1", "[5")),
    Row("a global is set before the first call", {"a": "Z = 1" + F},
        "import a, os; a.Z = int(os.environ['K']); print(a.f(1))", ("2", "6"), "2", "globals", before={"K": "1"}, env={"K": "5"}),
    Row("a value in a closure changes",
        {"a": "import os\ndef make(k):\n    @numba.njit(cache=True)\n    def f(x):\n        return x + k\n    return f\nf = make(int(os.environ['K']))"},
        "import a; print(a.f(1))", ("2", "6"), "6", "closure", before={"K": "1"}, env={"K": "5"}),
    Row("the model of errors, an option of the decorator, changes",
        {"a": "import os\n@numba.njit(cache=True, error_model=os.environ['K'])\ndef f(x):\n    return 1 / x"},
        "import a\ntry:\n    print(a.f(0.0))\nexcept ZeroDivisionError:\n    print('refused')",
        ("refused", "inf"), "refused", "options", before={"K": "python"}, env={"K": "numpy"}),
    Row("the check of bounds, an option of the decorator, changes",
        {"a": "import os\n@numba.njit(cache=True, boundscheck=os.environ['K'] == '1')\ndef f(x, n):\n    return x[n] * 0"},
        "import a, numpy\ntry:\n    print(a.f(numpy.ones(3, 'i8'), 3))\nexcept IndexError:\n    print('refused')",
        ("0", "refused"), "0", "options", before={"K": "0"}, env={"K": "1"}),
    Row("a caller hands its options down to a function that is then called alone",
        {"a": "@numba.njit(cache=True)\ndef g(x):\n    return 1.0 / x\n@numba.njit(error_model='numpy', fastmath=True)\ndef f(x):\n    return g(x)"},
        "import a, os\ntry:\n    print(getattr(a, os.environ['F'])(0.0))\nexcept ZeroDivisionError:\n    print('refused')",
        ("inf", "refused"), "inf", "options", before={"F": "f"}, env={"F": "g"}),
    Row("NUMBA_BOUNDSCHECK is set", {"a": "@numba.njit(cache=True)\ndef f(x, n):\n    return x[n] * 0"},
        "import a, numpy\ntry:\n    print(a.f(numpy.ones(3, 'i8'), 3))\nexcept IndexError:\n    print('refused')",
        ("0", "refused"), "0", "settings", env={"NUMBA_BOUNDSCHECK": "1"}),
    Row("NUMBA_DISABLE_PERFORMANCE_WARNINGS is no longer set", {"a": "@numba.njit(cache=True, parallel=True)\ndef f(x):\n    return x"},
        "import a, warnings\nwith warnings.catch_warnings(record=True) as given:\n    warnings.simplefilter('always')\n    a.f(1)\n"
        "print(len(given))", ("0", "1"), "0", "settings", before={"NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1"}),
    Row("two lambdas of one line and one bytecode",
        {"a": "import math\ng, f = numba.njit(cache=True)(lambda x: math.sin(x)), numba.njit(cache=True)(lambda x: math.cos(x))"},
        "import a; a.g(0.0); print(a.f(0.0))", ("1.0", "1.0"), "0.0", "function,versioned", compiles=0),
    Row("an implementation of overload in another file is edited",
        {"o": OVERLOAD, "a": "from o import h\n@numba.njit(cache=True)\ndef f(x):\n    return h(x)"},
        "import a; print(a.f(1))", ("10", "20"), "10", "records", rewrite("o", "10", "20"), compiles=2),
    *(Row(f"an implementation of overload is edited, and {what} was compiled before what uses that",
        {"o": OVERLOAD, "a": f"from o import h\nimport numpy\n{code}\n@numba.njit(cache=True)\ndef f(x):\n    return {call}"},
        f"import a, numpy; {first}; print(a.f({arg}))", right, numba, "compiled before", rewrite("o", "10", "20"), compiles=compiles)
      for what, code, first, call, arg, right, numba, compiles in (
        ("a function with a signature", "@numba.njit('int64(int64)')\ndef g(x):\n    return h(x)",
         "pass", "g(x)", "1", ("10", "20"), "10", 3),
        ("a function that is called by its address",
         "@numba.njit\ndef g(x):\n    return h(x)\n@numba.njit('int64(FunctionType(int64(int64)), int64)')\ndef by(how, x):\n    return how(x)",
         "a.g(1)", "by(g, x)", "1", ("10", "20"), "10", 4),
        ("a function of vectorize", "@numba.vectorize(['int64(int64)'])\ndef g(x):\n    return h(x)",
         "pass", "g(x)", "1", ("10", "20"), "10", 3),
        ("a function of vectorize without a signature", "@numba.vectorize\ndef g(x):\n    return h(x)",
         "a.g(1)", "g(x)", "1", ("10", "20"), "10", 3),
        ("a function of guvectorize",
         "@numba.guvectorize(['void(int64[:], int64[:])'], '(n)->(n)')\ndef g(x, y):\n    for i in range(x.size):\n        y[i] = h(x[i])",
         "pass", "(g(x, x), x)[1]", "numpy.ones(1, 'i8')", ("[10]", "[20]"), "[20]" if FOUND else "[10]", 3),
      )),
    Row("an intrinsic in another file is edited",
        {"o": """
            from numba.extending import intrinsic
            from numba.core import types
            @intrinsic
            def h(typingctx, x):
                def emit(context, builder, signature, args):
                    return context.get_constant(types.int64, 10)
                return types.int64(x), emit
         """, "a": "from o import h\n@numba.njit(cache=True)\ndef f(x):\n    return h(x)"},
        "import a; print(a.f(1))", ("10", "20"), "10", "globals,records", rewrite("o", "10", "20")),
    Row("an edit of the same size keeps the time stamp", {"a": "Z = 1" + F},
        "import a; print(a.f(1))", ("2", "6"), "6" if CONTENT else "2", "globals", rewrite("a", "Z = 1", "Z = 5", keep_time=True)),
    Row("the default of a parameter changes that a function has from the one that it wraps",
        {"o": "def orig(x, k=1):\n    pass",
         "a": "import functools\nfrom o import orig\n@numba.njit\n@functools.wraps(orig)\ndef g(x, k):\n    return x + k\n"
              "@numba.njit(cache=True)\ndef f(x):\n    return g(x)"},
        "import a; print(a.f(1))", ("2", "6"), "2", "parameters", rewrite("o", "1", "5"), compiles=2),
    Row("an attribute of a type changes by which Numba does not tell it from another",
        {"o": """
            from numba.extending import *
            from numba.core import types
            from conf import Z
            class Thing:
                pass
            class ThingType(types.Type):
                def __init__(self, k):
                    self.k = k
                    super().__init__(name="Thing")
            typeof_impl.register(Thing)(lambda value, context: ThingType(Z))
            register_model(ThingType)(models.OpaqueModel)
            unbox(ThingType)(lambda kind, value, c: NativeValue(c.context.get_dummy_value()))
            @overload_attribute(ThingType, "z")
            def z(thing):
                k = thing.k
                return lambda thing: k
         """, "conf": "Z = 1", "a": "import o\n@numba.njit(cache=True)\ndef f(x):\n    return x.z"},
        "import a; print(a.f(a.o.Thing()))", ("1", "5"), "1", "types", rewrite("conf", "1", "5"), compiles=2),
    Row("the type changes that a class stands for",
        {"o": "from numba.core import types\nfrom numba.extending import as_numba_type\nas_numba_type.register(float, types.int64)",
         "a": "import o\n@numba.njit(cache=True)\ndef f(x):\n    return isinstance(x, float)"},
        "import a; print(a.f(1))", ("True", "False"), "True", "registered", rewrite("o", "int64", "float64")),
    Row("what a module computes an attribute from changes",
        {"conf": "Z = 1", "m": "import conf\ndef __getattr__(name):\n    return getattr(conf, name)",
         "a": "import m\n@numba.njit(cache=True)\ndef f(x):\n    return x + m.Z"},
        "import a; print(a.f(1))", ("2", "6"), "2", "computed", rewrite("conf", "1", "5")),
    Row("the type changes that somebody's function gives a tuple of a class",
        {"o": """
            from numba.core import types
            from numba.core.imputils import lower_constant
            from numba.extending import *
            import pick
            class Pair(tuple):
                pass
            class One(types.Type):
                pass
            class Two(types.Type):
                pass
            for kind in (One, Two):
                register_model(kind)(models.OpaqueModel)
                lower_constant(kind)(lambda context, builder, t, value: context.get_dummy_value())
            kinds = {"One": One, "Two": Two}
            typeof_impl.register(Pair)(lambda value, context: kinds[pick.kind](pick.kind))
            def h(x):
                raise NotImplementedError
            @overload(h)
            def over(x):
                return (lambda x: 1) if x.name == "One" else (lambda x: 2)
         """, "pick": "kind = 'One'",
         "a": "from o import h, Pair\np = Pair((1, 2))\n@numba.njit(cache=True)\ndef f(x):\n    return h(p)"},
        "import a; print(a.f(1))", ("1", "2"), "1", "typed by", rewrite("pick", "One", "Two"), compiles=2),
    Row("the function is edited", {"a": "@numba.njit(cache=True)\ndef f(x):\n    return x + 1"},
        "import a; print(a.f(1))", ("2", "6"), "6", "function", rewrite("a", "1", "5")),
]  # fmt: skip


def ids(rows: list[Row]) -> list[str]:
    return [row.name for row in rows]


def outcome(project: Project, row: Row, cache: str, **env: str) -> tuple[str, str, int]:
    project.write(**row.modules)
    first = project.check(row.code, cache, **row.before, **env)
    row.change(project)
    second = project.check(row.code, cache, **row.env, **env)
    return first.out, second.out, len(second.compiled)


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_ours_is_right(project: Project, row: Row) -> None:
    assert outcome(project, row, "jitcache") == (*row.right, row.compiles)


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_numba_s_own(project: Project, row: Row) -> None:
    assert outcome(project, row, "numba")[1] == row.numba


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_without_the_mechanism_ours_is_wrong_too(project: Project, row: Row) -> None:
    assert outcome(project, row, "jitcache", WITHOUT=f"others,{row.without}")[:2] != row.right


class Kept(NamedTuple):
    """A change of something that no result depends on."""

    name: str
    change: Callable[[Project], object]
    numba: int  # compiles of Numba's own
    modules: dict[str, str] = {"a": "Z = 1" + F}


KEPT = [
    Kept("the time stamp changes, as in eggs and layers of images", touch, 0 if CONTENT else 1),
    Kept("a comment is added", rewrite("a", "import numba", "# a comment\nimport numba"), 1),
    Kept("the folder is another", move, 1),
    Kept("another function of the file is edited", rewrite("a", "return 7", "return 8"), 1,
         {"a": "def other():\n    return 7\nZ = 1" + F}),
]  # fmt: skip
LOOK = "import sys; sys.path.insert(0, __import__('os').environ['PROJECT'] + '/elsewhere'); import a; print(a.f(1))"


@pytest.mark.parametrize("row", KEPT, ids=[row.name for row in KEPT])
def test_content_decides(project: Project, row: Kept) -> None:
    for cache, compiles in (("jitcache", 0), ("numba", row.numba)):
        shutil.rmtree(project.folder)
        project.folder.mkdir()
        project.write(**row.modules)
        project.check(LOOK, cache)
        row.change(project)
        second = project.check(LOOK, cache)
        assert (second.out, len(second.compiled)) == ("2", compiles), cache


@pytest.mark.parametrize("row", KEPT[:1], ids=[row.name for row in KEPT[:1]])
def test_with_a_time_stamp_in_the_key_a_touch_compiles(project: Project, row: Kept) -> None:
    project.write(**row.modules)
    project.check(LOOK, WITHOUT="content")
    row.change(project)
    assert project.check(LOOK, WITHOUT="content").compiled == ["f"]


def test_settings_of_the_optimiser_are_settings(project: Project) -> None:
    """NUMBA_OPT, NUMBA_LOOP_VECTORIZE and the like: Numba's own takes code of others."""
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1")
    names = ["OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO", "DISABLE_INTEL_SVML", "LLVM_REFPRUNE_PASS"]
    for cache in ("jitcache", "numba"):
        project.check("import a; a.f(1)", cache)
        for name in names:
            value = "0" if name in ("OPT", "LOOP_VECTORIZE", "LLVM_REFPRUNE_PASS") else "1"
            want = ["f"] if cache == "jitcache" else []
            assert project.check("import a; a.f(1)", cache, **{f"NUMBA_{name}": value}).compiled == want, name
    # What prints, colours or places files is none.
    for name, value in (
        ("CACHE_LOCATOR_CLASSES", ""),
        ("DEBUG_CACHE", "1"),
        ("NUM_THREADS", "1"),
        ("COLOR_SCHEME", "no_color"),
    ):
        assert project.check("import a; a.f(1)", **{f"NUMBA_{name}": value}).compiled == []


LEVEL = """
import a
from numba.core import config
a.g(1)
config.OPT = config._OptLevel({level!r})
a.f(1)
"""


def test_settings_that_are_equal_and_not_the_same_are_two(project: Project) -> None:
    """The level "max", which optimises until nothing changes, equals 3."""
    text = "@numba.njit(cache=True)\ndef g(x):\n    return x\n@numba.njit(cache=True)\ndef f(x):\n    return x + 1"
    for without, compiled in (("", ["f"]), ("identity", [])):
        shutil.rmtree(project.cache, ignore_errors=True)
        project.write(a=text)
        assert project.check(LEVEL.format(level=3), WITHOUT=without).compiled == ["g", "f"]
        assert project.check(LEVEL.format(level="max"), WITHOUT=without).compiled == compiled


EXTENSION = """
    from numba.core import types
    from numba.extending import overload, register_model, models, typeof_impl, unbox, NativeValue, overload_attribute
    class Thing:
        pass
    class ThingType(types.Type):
        def __init__(self):
            super().__init__("Thing")
    thing = ThingType()
    @typeof_impl.register(Thing)
    def typeof(value, context):
        return thing
    @register_model(ThingType)
    class ThingModel(models.StructModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, [("a", types.int64), ("b", types.int64)])
    @unbox(ThingType)
    def unbox_thing(kind, value, c):
        from numba.core import cgutils
        made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
        made.a = c.context.get_constant(types.int64, 10)
        made.b = c.context.get_constant(types.int64, 20)
        return NativeValue(made._getvalue())
    @overload_attribute(ThingType, "x", inline="never")
    def get_x(value):
        return lambda value: 1
"""
PARTS = [
    ("the model of a type", '("a", types.int64), ("b", types.int64)', '("b", types.int64), ("a", types.int64)'),
    ("how a type is unboxed", "int64, 10", "int64, 30"),
    ("an attribute of a type", "value: 1", "value: 2"),
    ("the options of an overload", 'inline="never"', 'inline="always"'),
]


@pytest.mark.parametrize(("_what", "old", "new"), PARTS, ids=[p[0] for p in PARTS])
def test_every_part_of_an_extension_counts(project: Project, _what: str, old: str, new: str) -> None:
    """And Numba's own never looks at any."""
    project.write(o=EXTENSION, a="import o\n@numba.njit(cache=True)\ndef f(x):\n    return x.x\n")
    call = "import a, o; a.f(o.Thing())"
    for cache in ("jitcache", "numba"):
        assert "f" in project.check(call, cache).by_llvm
        assert project.check(call, cache).by_llvm == []
    rewrite("o", old, new)(project)
    assert "f" in project.check(call).by_llvm
    assert project.check(call, "numba").by_llvm == []


def test_two_versions_of_numba_share_a_directory(project: Project) -> None:
    """Numba's own starts its index anew whenever the other version was there last."""
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1")
    rows = (("jitcache", "", [1, 1, 0, 0]), ("numba", "", [1, 1, 1, 1]), ("jitcache", "versions", [1, 0, 0, 0]))
    for cache, without, compiles in rows:
        shutil.rmtree(project.cache, ignore_errors=True)
        found = [
            len(project.check("import a; a.f(1)", cache, WITHOUT=without, VERSION=version).compiled)
            for version in ("9.1", "9.2", "9.1", "9.2")
        ]
        assert found == compiles, (cache, without)
