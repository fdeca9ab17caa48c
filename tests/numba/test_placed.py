"""What others have put into Numba's modules: found wherever it is, as Numba has no list of the places, and neither have we.

The rows are as those of ``test_looks``.
"""

from __future__ import annotations

from project import Project
from test_kept import others
from test_looks import Look, checks_of

USER = "import c, numpy\n@numba.njit(cache=True)\ndef f(x):\n    return %s"
CONST = """
from numba.core import ir
import d
own = ir.Const.__init__
def changed(self, value, *args, **more):
    own(self, value + d.K if type(value) is float else value, *args, **more)
"""


SETS = """
def changed(func_ir):
    for block in func_ir.blocks.values():
        for one in block.find_insts(ir.Assign):
            if isinstance(one.value, ir.Const) and one.value.value == 0.5:
                one.value = ir.Const(d.K, one.loc)
    return own_of(func_ir)
"""


def placed(name: str, c: str, what: str, right: tuple[str, str]) -> Look:
    """Return a program whose module c puts something into Numba, whose number is in module d."""
    return Look(name, {"d": "K = 1.0", "c": c, "a": USER % what}, ("d", "1.0", "2.0"), right, "placed")


ROWS = [
    others("the class of literals of a class",
           "class A(types.Opaque):\n    pass\nclass B(types.Literal, A):\n    def __init__(self, value):\n        self._literal_init(value)\n"
           "        super(types.Literal, self).__init__('B')\nfor K in (A, B):\n    register_model(K)(models.OpaqueModel)\n"
           "    lower_constant(K)(lambda context, builder, kind, value: context.get_dummy_value())\n"
           "class Thing:\n    pass\nit = Thing()\ntypeof_impl.register(Thing)(lambda value, context: A('A'))\n"
           "if T == 'float64':\n    types.Literal.ctor_map[Thing] = B\n"
           "def by(x, it):\n    raise NotImplementedError\n@overload(by, prefer_literal=True)\ndef over(x, it):\n"
           "    return (lambda x, it: x) if isinstance(it, types.Literal) else (lambda x, it: int(x))",
           "from o import by, it\n@numba.njit(cache=True)\ndef f(x):\n    return by(x, it)", "placed"),
    Look("which calls somebody's function lets Numba leave out", {
        "d": "K = True", "c": "from numba.core import ir_utils\nimport d\nir_utils.remove_call_handlers.append(lambda call, lives, name: d.K)",
        "a": "import c, numpy\n@numba.njit\ndef g(x):\n    x[0] = 5.0\n    return 1\n@numba.njit(cache=True, parallel=True)\n"
             "def f(x):\n    unused = g(x)\n    return (numpy.ones(3) + 1).sum()"},
        ("d", "True", "False"), ("0.0", "5.0"), "placed", "import a\nx = a.numpy.zeros(1)\na.f(x)\nprint(x[0])"),
    Look("the function that computes a sum in parallel", {
        "d": "K = 1.0", "c": "from numba.parfors import parfor\nimport d\nparfor.swap_functions_map['sum', 'numpy'] = lambda *_: lambda x: x.min() + d.K",
        "a": "import c, numpy\n@numba.njit(cache=True, parallel=True)\ndef f(x):\n    return numpy.sum(x)"},
        ("d", "1", "2"), ("1.0", "2.0"), "placed", "import a; print(a.f(a.numpy.zeros(2)))"),
    placed("how Numba is to lower a function of NumPy's",
           "import numpy\nfrom llvmlite import ir\nfrom numba.np import ufunc_db\nimport d\nufunc_db._lazy_init_db()\n"
           "ufunc_db._ufunc_db[numpy.cbrt]['d->d'] = lambda *_: ir.Constant(ir.DoubleType(), d.K)", "numpy.cbrt(x)", ("1.0", "2.0")),
    placed("a method of a class of Numba's", CONST + "ir.Const.__init__ = changed", "x + 0.5", ("2.5", "3.5")),
    placed("a method of a class of Numba's, of which nobody but one process knows", CONST + "if d.K == 2:\n    ir.Const.__init__ = changed",
           "x + 0.5", ("1.5", "3.5")),
    placed("an object in the place of a function of Numba's",
           "from numba.core import ir, untyped_passes as u\nimport d\nown_of = u.reconstruct_ssa\n" + SETS
           + "class Changed:\n    def __call__(self, func_ir):\n        return changed(func_ir)\nu.reconstruct_ssa = Changed()", "x + 0.5", ("2.0", "3.0")),
    placed("a memoised function in the place of one of Numba's",
           "import functools\nfrom numba.core import ir, untyped_passes as u\nimport d\nown_of = u.reconstruct_ssa\n" + SETS
           + "u.reconstruct_ssa = functools.lru_cache(changed)", "x + 0.5", ("2.0", "3.0")),
    placed("a class in the place of one of Numba's", CONST + "class Const(ir.Const):\n    __init__ = changed\nir.Const = Const", "x + 0.5", ("2.5", "3.5")),
    placed("a function in the place of one of Numba's",
           "from numba.core import ir, untyped_passes as u\nimport d\n"
           "own_of = u.reconstruct_ssa\n" + SETS + "if d.K == 2:\n    u.reconstruct_ssa = changed",
           "x + 0.5", ("1.5", "3.0")),
]  # fmt: skip

# The first function is compiled by a Numba that is its own. Nothing is imported after that.
LATER = """
import a, c
from numba.core import ir
print(a.f(1))
if {changed}:
    ir.Const.__init__ = c.changed
print(a.g(1))
"""


(
    test_a_change_is_seen,
    test_what_is_right_after_it_is_what_a_plain_numba_gives,
    test_without_the_mechanism_the_old_result_is_served,
) = checks_of(ROWS)


def write(project: Project) -> None:
    project.write(
        d="K = 1.0", c=CONST, a=USER % "x + 0.5" + "\n@numba.njit(cache=True)\ndef g(x):\n    return x + 0.25"
    )


def test_what_a_numba_compiles_that_was_changed_later_is_not_given_to_others(project: Project) -> None:
    write(project)
    assert project.check(LATER.format(changed=True)).out.split() == ["1.5", "2.25"]
    assert project.check(LATER.format(changed=False)).out.split() == ["1.5", "1.25"]


def test_without_a_look_everywhere_it_is_given_to_others(project: Project) -> None:
    write(project)
    assert project.check(LATER.format(changed=True), WITHOUT="everywhere").out.split() == ["1.5", "2.25"]
    assert project.check(LATER.format(changed=False), WITHOUT="everywhere").out.split() == ["1.5", "2.25"]


def test_nothing_is_found_in_a_numba_of_which_all_parts_are_used(project: Project) -> None:
    """What Numba itself fills with what programs give it is not taken for something that others have put there."""
    project.write(
        a="""
        import numba, numpy
        from numba.core import event, target_extension, types
        from numba.experimental import jitclass
        from numba.extending import overload, intrinsic, register_jitable
        from numba.typed import Dict, List

        class Listener(event.Listener):
            def on_start(self, event):
                pass

            def on_end(self, event):
                pass

        event.register("numba:compile", Listener())

        class Target(target_extension.GPU):
            pass

        target_extension.target_registry["mine"] = Target
        target_extension.jit_registry[Target] = lambda function: function

        @jitclass([("x", types.float64)])
        class Box:
            def __init__(self, x):
                self.x = x

        def h(x):
            raise NotImplementedError

        @overload(h)
        def over(x):
            return lambda x: x + 1

        @intrinsic
        def one(context):
            return types.int64(), lambda context, builder, sig, args: context.get_constant(types.int64, 1)

        @numba.stencil
        def s(x):
            return x[0] + x[-1]

        @numba.vectorize
        def v(x):
            return x + 1

        @numba.cfunc("float64(float64)")
        def called(x):
            return x + 1

        @numba.njit(cache=True, parallel=True)
        def sums(x):
            total = 0.0
            for i in numba.prange(len(x)):
                total += x[i]
            return total + s(x).sum()

        @numba.njit(cache=True)
        def f(x):
            names, d = List(), Dict()
            names.append(x)
            d[x] = Box(x).x
            return h(x) + one() + names[0] + d[x]
        """
    )
    code = """
        import a
        from jitcache.adapters.numba._placed import placed
        for _ in range(2):
            a.v(a.numpy.ones(3)), a.sums(a.numpy.ones(3)), a.f(1), a.f(1.5)
            print(placed.look(everywhere=True))
    """
    assert project.check(code).out.split() == ["[]", "[]"]
    assert project.check(code).out.split() == ["[]", "[]"]
