"""What Python code reaches, while Numba compiles, by other ways than a name: found by somebody who tried to get old results.

The rows are as those of ``test_looks``.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig

import pytest
from project import Project
from test_looks import OVERLOAD, USE, Look, change, checks_of, over

HOLDS = "whatever holds it"
NO_FILE = "import sys, types\nmade = types.ModuleType('made')\nsys.modules['made'] = made\n"
PASS = """
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing
from numba.core import ir
import d
@register_pass(mutates_CFG=False, analysis_only=False)
class Mine(FunctionPass):
    _name = "mine"
    def __init__(self):
        FunctionPass.__init__(self)
    def run_pass(self, state):
        for block in state.func_ir.blocks.values():
            for s in block.body:
                if isinstance(s, ir.Assign) and isinstance(s.value, ir.Global) and s.value.value == 77:
                    s.value = ir.Const(getattr(d, "K" + str(len("ab"))), s.loc)
        return True
class C(CompilerBase):
    def define_pipelines(self):
        made = DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.add_pass_after(Mine, IRProcessing)
        made.finalize()
        return [made]
"""
OF_THING = """
from numba.core import types
from numba.core.imputils import lower_constant
from numba.extending import *
import d
class T(types.Opaque):
    pass
class Thing:
    pass
@typeof_impl.register(Thing)
def of_thing(value, context):
    return T(getattr(d, "K" + str(len("ab"))))
register_model(T)(models.OpaqueModel)
@lower_constant(T)
def constant(context, builder, kind, value):
    return context.get_dummy_value()
@overload_attribute(T, "z")
def z(v):
    k = len(v.name)
    return lambda v: k
"""
WITH = """
from numba.core import ir
from numba.core.withcontexts import _ObjModeContextType
from d import K
class With(_ObjModeContextType):
    def __init__(self, k):
        self.k = k
    def mutate_with_body(self, func_ir, blocks, first, last, body, *more):
        for label in body:
            for s in blocks[label].body:
                if isinstance(s, ir.Assign) and isinstance(s.value, ir.Global) and s.value.value == 77:
                    s.value = ir.Const(self.k, s.loc)
        return super().mutate_with_body(func_ir, blocks, first, last, body, *more)
it = With(K)
"""
CONTEXT = """
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_getattr_generic
from d import K
def h(x):
    raise NotImplementedError
class A(AbstractTemplate):
    key = "mine.A"
    def generic(self, args, kws):
        return signature(types.int64, *args)
class B(AbstractTemplate):
    key = "mine.B"
    def generic(self, args, kws):
        return signature(types.float64, *args)
def one(context, builder, sig, args):
    return context.get_constant(sig.return_type, 1)
def two(context, builder, sig, args):
    return context.get_constant(sig.return_type, 2)
lower_builtin("mine.A", types.Any)(one)
lower_builtin("mine.B", types.Any)(two)
"""


def held(name: str, e: str, body: str) -> Look:
    """Return an overload whose body gets at a module ``c`` by something of a module ``e``; a list in it comes from a third."""
    return over(
        f"a module in {name}",
        "import e",
        f"k = {body}.L[0]",
        ("d", "[1]", "[2]"),
        HOLDS,
        c="from d import L",
        d="L = [1]",
        e=e,
    )


def put(name: str, what: str, right: tuple[str, str]) -> Look:
    """Return a program that puts something into Numba's contexts without a registry."""
    return Look(
        f"what somebody has put {name}", {"d": "K = 1", "o": CONTEXT + what, "a": USE}, ("d", "1", "2"), right, "put"
    )


ROWS = [
    held("an instance", "import c\nclass A:\n    pass\nit = A()\nit.m = c", "e.it.m"),
    held("a class", "import c\nclass A:\n    m = c", "e.A.m"),
    held("a tuple", "import c\nit = (c,)", "e.it[0]"),
    held("what a function returns", "import c as m\ndef get():\n    return m", "e.get()"),
    held("a default", "import c\ndef get(m=c):\n    return m", "e.get()"),
    over("a module by what looks for its names", "import c, functools\nget = functools.partial(getattr, c)", "k = get('L')[0]",
         ("d", "[1]", "[2]"), HOLDS, c="from d import L", d="L = [1]"),
    over("a number of a module in an instance", "from e import it", "k = it.m.K", ("c", "= 1", "= 2"), HOLDS, c="K = 1",
         e="import c\nclass A:\n    pass\nit = A()\nit.m = c"),
    over("a module in a package without a file", "import n.c", "import n.c as c\nk = c.K", ("n/c", "= 1", "= 2"), "others",
         **{"n/c": "K = 1"}),
    over("a module without a file", "import c", "import made\nk = made.K", ("c", "K = 1", "K = 2"), "others", c=NO_FILE + "made.K = 1"),
    over("what stands for a module and is none", "import c", "import made\nk = made.K", ("c", "K = 1", "K = 2"), "others",
         c="import sys\nclass A:\n    K = 1\nsys.modules['made'] = A()"),
    over("a file that was opened before", "import os\nF = open(os.path.join(os.path.dirname(__file__), 'c.py'))", "k = int(F.read()[-1])",
         ("c", "#1", "#2"), "opened", c="#1"),
    over("a generator that was begun before", "import os\ndef make(k):\n    yield k\nG = make(int(os.environ['VALUE']))", "k = next(G)",
         ("environ", "1", "2"), "opened"),
    over("a queue", "import os, queue\nQ = queue.SimpleQueue()\nQ.put(int(os.environ['VALUE']))", "k = Q.get()", ("environ", "1", "2"), "opened"),
    over("a file that is open, by its number", "import os\nF = os.open(os.path.join(os.path.dirname(__file__), 'c.py'), 0)", "k = int(os.pread(F, 99, 0)[-1:])",
         ("c", "#1", "#2"), "others", c="#1"),
    over("whether a lock is taken", "import os, threading\nL = threading.Lock()\nif os.environ['VALUE'] == '2':\n    L.acquire()", "k = 1 + L.locked()",
         ("environ", "1", "2"), "locked"),
    over("the level of a logger above", "import c, logging\nL = logging.getLogger('x.y')", "k = 1 if L.isEnabledFor(10) else 2", ("c", "(10)", "(20)"), "logger",
         c="import logging\nlogging.getLogger('x').setLevel(10)"),
    over("where an exception comes from", "from c import E", "k = E.__cause__.args[0]", ("d", "1", "2"), "left out",
         c="from d import K\nE = ValueError()\nE.__cause__ = KeyError(K)", d="K = 1"),
    over("where a helper is that does not run", "from c import get", "k = get.__code__.co_firstlineno - 2", ("c", "#\n", "#\n#\n"), "lines",
         c="#\ndef get():\n    pass"),
    over("when a file was written", "import c, os", "k = int(os.path.getmtime(os.path.join(os.path.dirname(__file__), 'e.py')))", ("c", "(1, 1)", "(2, 2)"), "others",
         c="import os\nos.utime(os.path.join(os.path.dirname(__file__), 'e.py'), (1, 1))", e=""),
    over("the folder that the process is in, as bytes", "import os, c", "k = len(os.path.basename(os.getcwdb()))", ("c", "'a'", "'aa'"), "others",
         c="import os\nos.makedirs('a', exist_ok=True)\nos.makedirs('aa', exist_ok=True)\nos.chdir('a')"),
    Look("a name that a pass of somebody's computes", {"d": "K2 = 0", "p": PASS,
         "a": "from p import C\nQ = 77\n@numba.njit(cache=True, pipeline_class=C)\ndef f(x):\n    return x + Q"},
         ("d", "= 0", "= 1"), ("1", "2"), "as run"),
    Look("a name that is computed by what says the type of a global", {"d": "K2 = 'a'", "t": OF_THING,
         "a": "import t\nT = t.Thing()\n@numba.njit(cache=True)\ndef f(x):\n    return T.z"}, ("d", "'a'", "'aa'"), ("1", "2"), "as run"),
    Look("what stands behind with has a state", {"d": "K = 0", "w": WITH,
         "a": "from w import it\nQ = 77\n@numba.njit(cache=True)\ndef f(x):\n    with it(y='int64'):\n        y = x + Q\n    return y"},
         ("d", "0", "1"), ("1", "2"), "with"),
    put("for a function", "cpu_target.typing_context.insert_global(h, types.Function([A, B][K - 1]))", ("1", "2.0")),
    put("for a function of theirs", "cpu_target.typing_context.insert_user_function(h, [A, B][K - 1])", ("1", "2.0")),
    put("into lowering", "class H(AbstractTemplate):\n    generic = A.generic\ninfer_global(h)(H)\n"
        "cpu_target.target_context.insert_func_defn([([one, two][K - 1], h, (types.Any,))])", ("1", "2")),
    put("into the rules of conversion",
        "class H(ConcreteTemplate):\n    cases = [signature(types.float64, types.float64), signature(types.int8, types.int8)]\ninfer_global(h)(H)\n"
        "@lower_builtin(h, types.int8)\n@lower_builtin(h, types.float64)\ndef lower(context, builder, sig, args):\n    return args[0]\n"
        "from numba.core.typeconv.rules import default_type_manager\nif K == 2:\n    default_type_manager.set_promote(types.int64, types.int8)",
        ("1.0", "1")),
]  # fmt: skip


@pytest.fixture(autouse=True)
def with_folder(project: Project) -> None:
    """Make the folder that some rows name."""
    (project.folder / "n").mkdir()


(
    test_a_change_is_seen,
    test_what_is_right_after_it_is_what_a_plain_numba_gives,
    test_without_the_mechanism_the_old_result_is_served,
) = checks_of(ROWS)


@pytest.mark.parametrize("without", ["", "put"])
@pytest.mark.parametrize(
    "row", [r for r in ROWS if "for a function" in r.name or "lowering" in r.name], ids=lambda r: r.name
)
def test_what_was_put_before_install_is_seen(project: Project, row: Look, without: str) -> None:
    project.write(**row.modules)
    code = "import o\nfrom jitcache.adapters import numba as j\nj.install(everything=True)\n" + row.call
    assert project.check(code, "later", WITHOUT=without and f"others,{without}").out == row.right[0]
    change(project, row)
    ran = project.check(code, "later", WITHOUT=without and f"others,{without}")
    assert ran.out == row.right[not without]
    assert without or project.check(code, "later").by_llvm == []


EXTENSION = """
#include <Python.h>
static PyObject *get(PyObject *self, PyObject *none) { return PyLong_FromLong(VALUE); }
static PyMethodDef functions[] = {{"get", get, METH_NOARGS, 0}, {0}};
static PyType_Slot slots[] = {{Py_tp_methods, functions}, {0, 0}};
static PyType_Spec spec = {"extension.Thing", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension", 0, -1, functions};
PyMODINIT_FUNC PyInit_extension(void) {
    PyObject *made = PyModule_Create(&module);
    PyModule_AddObject(made, "Thing", PyType_FromSpec(&spec));
    return made;
}
"""


@pytest.mark.parametrize("without", ["", "in C"])
@pytest.mark.parametrize("what", ["get", "Thing().get"])
def test_extension_in_c_counts_by_its_file(project: Project, what: str, without: str) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    name = what.partition("(")[0]
    project.write(
        o=OVERLOAD
        + f"from extension import {name}\n@overload(h)\ndef over(x):\n    k = {what}()\n    return lambda x: x * k",
        a=USE,
    )
    source, made = project.folder / "extension.c", project.folder / "extension.so"
    source.write_text(EXTENSION)
    for value in ("1", "2"):
        command = [
            "cc",
            "-shared",
            "-fPIC",
            f"-DVALUE={value}",
            "-I" + sysconfig.get_paths()["include"],
            "-o",
            str(made),
            str(source),
        ]
        made.unlink(missing_ok=True)
        subprocess.run(command, check=True)
        assert project.check("import a; print(a.f(1))", WITHOUT=without and f"others,{without}").out == (
            "1" if without else value
        )


HELD = """
from numba import objmode
log, other = [], []
def make(log, other):
    @numba.njit
    def f(x):
        with objmode():
            log.append(x)
        return x
    @numba.jit(forceobj=True)
    def g(x):
        other.append(x)
        return len(other)
    return f, g
f, g = make(log, other)
@numba.njit
def h(x):
    return f(x)
"""


@pytest.mark.parametrize("without", ["", "object mode"])
def test_object_that_object_mode_holds_is_no_copy(project: Project, without: str) -> None:
    project.write(a=HELD)
    code = "import a; print(a.f(1), a.g(2), a.h(3), a.log, a.other)"
    assert project.check(code, "everything", WITHOUT=without).out == "1 1 3 [1, 3] [2]"
    assert (project.check(code, "everything", WITHOUT=without).out == "1 1 3 [1, 3] [2]") == (not without)


@pytest.mark.parametrize("cache", ["none", "everything"])
def test_block_without_code_of_its_own_is_no_error(project: Project, cache: str) -> None:
    """Numba lists None for it among the blocks that it has taken out."""
    project.write(
        a="from numba.core.withcontexts import bypass_context\n@numba.njit\ndef f(x):\n"
        "    with bypass_context:\n        print(5)\n    return x"
    )
    assert project.check("import a; print(a.f(1))", cache).out == "1"
