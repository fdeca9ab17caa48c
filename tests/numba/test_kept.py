"""What Numba keeps from before a compile, and what others give it beside functions: found by somebody who tried to get old results.

The rows are as those of ``test_looks``.
"""

from __future__ import annotations

from test_looks import Look, checks_of

OF_OTHERS = """
import math
from numba.core import types
from numba.core.imputils import lower_constant
from numba.core.typing.templates import infer_global, make_callable_template, make_concrete_template, signature
from numba.extending import *
from d import T
def h(x):
    raise NotImplementedError
kind = getattr(types, T)
@lower_builtin(h, types.float64)
@lower_builtin(math.ulp, types.float64)
def lower(context, builder, sig, args):
    return context.cast(builder, args[0], sig.args[0], sig.return_type)
"""
ULP = "import math, o\n@numba.njit(cache=True)\ndef f(x):\n    return math.ulp(x)"
H = "from o import h\n@numba.njit(cache=True)\ndef f(x):\n    return h(x)"
STENCIL = "import numpy\nfrom c import s\n@numba.njit(cache=True)\ndef f(x):\n    return s(x)"
OF_STENCIL = "import a; print(a.f(a.numpy.ones(1)))"
FIRST_ONE = """
import a, o, os
x = getattr(o, "Thing", lambda: 1)()
if os.environ["VALUE"] == "1":
    a.f(x)
o.change(20)
print(a.g(x))
"""
MODEL = """
class Thing:
    pass
class T(types.Type):
    def __init__(self):
        super().__init__(name="T")
t = T()
typeof_impl.register(Thing)(lambda value, context: t)
@unbox(T)
def unboxed(kind, value, c):
    two = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    two.a, two.b = (c.context.get_constant(types.int64, n) for n in (10, 20))
    return NativeValue(two._getvalue())
@intrinsic
def h(context, x):
    def make(context, builder, sig, args):
        return builder.extract_value(args[0], 0)
    return types.int64(x), make
"""


def others(name: str, what: str, user: str, without: str) -> Look:
    """Return a program in which a module decides on the type that a call returns."""
    modules = {"d": "T = 'int64'", "o": OF_OTHERS + what, "a": user}
    return Look(name, modules, ("d", "int64", "float64"), ("1", "1.5"), without, "import a; print(a.f(1.5))")


def passed(name: str, c: str, look: str, argument: str = "it", without: str = "others") -> Look:
    """Return an overload that looks at a function or a class by the type of an argument."""
    over = f"from numba.extending import overload\ndef h(it):\n    raise NotImplementedError\n@overload(h)\ndef over(it):\n    n = {look}\n    return lambda it: n"
    a = f"from c import it\nfrom o import h\n@numba.njit(cache=True)\ndef f(x):\n    return h({argument})"
    return Look(
        f"{name}, by its type", {"d": "K = 'a'", "c": c, "o": over, "a": a}, ("d", "'a'", "'aa'"), ("1", "2"), without
    )


def later(name: str, what: str, call: str, *, first: str = "1") -> Look:
    """Return a program that changes what a function, with which Numba makes something, has in a cell.

    One of two processes, by default the ``first``, does so after Numba has made that; the other one before.
    """
    made = "\n".join("    " + line for line in what.splitlines())
    return Look(name, {
        "o": "import numba\nfrom numba.core import cgutils, types\nfrom numba.extending import *\n" + (MODEL if "model" in what else "def h(x):\n    raise NotImplementedError\n")
             + f"def make():\n    k = 10\n{made}\n    def change(n):\n        nonlocal k\n        k = n\n    return change, h\nchange, h = make()",
        "a": f"from o import h\n@numba.njit(cache=True)\ndef f(x):\n    return {call}\n@numba.njit(cache=True)\ndef g(x):\n    return {call} + 0"},
        *((("environ", "1", "2"), ("10", "20"), "makers") if first == "1" else
          (("environ", "2", "1"), ("20", "10"), "as made before")), FIRST_ONE)  # fmt: skip


ROWS = [
    Look("a global that a stencil had when it was made", {
        "c": "from d import V\nK = V\n@numba.stencil\ndef s(x):\n    return x[0] * K\nK = 5", "d": "V = 1", "a": STENCIL},
        ("d", "1", "2"), ("[1.]", "[2.]"), "as made", OF_STENCIL),
    Look("the code that a stencil had when it was made", {
        "c": "from d import V\ndef other(x):\n    return x[0] * V\ndef last(x):\n    return x[0]\ndef one(x):\n    return x[0]\n"
             "if V == 2:\n    one.__code__ = (lambda x: x[0] * 2).__code__\ns = numba.stencil(one)\none.__code__ = last.__code__",
        "d": "V = 1", "a": STENCIL}, ("d", "1", "2"), ("[1.]", "[2.]"), "as made", OF_STENCIL),
    Look("a method of somebody's class of jitted functions", {
        "d": "T = 'int64'",
        "c": "from numba.core import types\nfrom numba.core.registry import CPUDispatcher\nimport d\nclass Mine(CPUDispatcher):\n"
             "    def get_call_template(self, args, kws):\n"
             "        return super().get_call_template(tuple(getattr(types, d.T) for _ in args), kws)\n@Mine\ndef g(x):\n    return x",
        "a": "from c import g\n@numba.njit(cache=True)\ndef f(x):\n    return g(x) + 0"},
        ("d", "int64", "float64"), ("1", "1.5"), "class of a dispatcher", "import a; print(a.f(1.5))"),
    Look("the type that somebody's function gives numbers", {
        "d": "T = 'float32'",
        "c": "from numba.core import types\nfrom numba.extending import typeof_impl\nimport d\n@typeof_impl.register(float)\n"
             "def of_float(value, context):\n    return getattr(types, d.T)",
        "a": "import c\nZ = 0.1\n@numba.njit(cache=True)\ndef f(x):\n    return Z"},
        ("d", "float32", "float64"), ("0.10000000149011612", "0.1"), "plain typers"),
    Look("the type that somebody's function gives numbers in the code", {
        "d": "T = 'float32'",
        "c": "from numba.core import types\nfrom numba.extending import typeof_impl\nimport d\n@typeof_impl.register(float)\n"
             "def of_float(value, context):\n    return getattr(types, d.T)",
        "a": "import c\n@numba.njit(cache=True)\ndef f(x):\n    return 0.1"},
        ("d", "float32", "float64"), ("0.10000000149011612", "0.1"), "plain typers"),
    later("an overload", "@overload(h)\ndef over(x):\n    n = k\n    return lambda x: x * n", "h(x)"),
    later("an overload of a method", "@overload_method(types.Integer, 'mine')\ndef over(x):\n    n = k\n    return lambda x: x * n", "x.mine()"),
    later("an overload of an attribute", "@overload_attribute(types.Integer, 'mine')\ndef over(x):\n    n = k\n    return lambda x: x * n", "x.mine"),
    later("an intrinsic", "@intrinsic\ndef h(context, x):\n    n = k\n    def make(context, builder, sig, args):\n"
          "        return context.get_constant(types.int64, n)\n    return types.int64(x), make", "h(x)"),
    later("a model", "global h\n@register_model(T)\nclass M(models.StructModel):\n    def __init__(self, manager, kind):\n"
          "        names = ['a', 'b'] if k == 10 else ['b', 'a']\n        super().__init__(manager, kind, [(n, types.int64) for n in names])", "h(x)"),
    later("another process makes an overload", "@overload(h)\ndef over(x):\n    n = k\n    return lambda x: x * n", "h(x)", first="2"),
    later("another process makes an overload of a method", "@overload_method(types.Integer, 'mine')\ndef over(x):\n    n = k\n    return lambda x: x * n", "x.mine()", first="2"),
    later("another process makes an overload of an attribute", "@overload_attribute(types.Integer, 'mine')\ndef over(x):\n    n = k\n    return lambda x: x * n", "x.mine", first="2"),
    later("another process makes an intrinsic", "@intrinsic\ndef h(context, x):\n    n = k\n    def make(context, builder, sig, args):\n"
          "        return context.get_constant(types.int64, n)\n    return types.int64(x), make", "h(x)", first="2"),
    later("another process makes a model", "global h\n@register_model(T)\nclass M(models.StructModel):\n    def __init__(self, manager, kind):\n"
          "        names = ['a', 'b'] if k == 10 else ['b', 'a']\n        super().__init__(manager, kind, [(n, types.int64) for n in names])", "h(x)", first="2"),
    later("another process makes a function", "@numba.njit\ndef h(x):\n    return k", "h(x)", first="2"),
    Look("an attribute of somebody's type that changes after an overload has seen it", {
        "o": "from numba.core import types\nfrom numba.extending import *\nclass Thing:\n    pass\nclass T(types.Type):\n    def __init__(self):\n"
             "        super().__init__(name='T')\nt = T()\nt.k = 10\ntypeof_impl.register(Thing)(lambda value, context: t)\n"
             "register_model(T)(models.OpaqueModel)\nunbox(T)(lambda kind, value, c: NativeValue(c.context.get_dummy_value()))\n"
             "@overload_attribute(T, 'k')\ndef of_k(it):\n    k = it.k\n    return lambda it: k\ndef change(n):\n    t.k = n",
        "a": "import o\n@numba.njit(cache=True)\ndef f(x):\n    return x.k\n@numba.njit(cache=True)\ndef g(x):\n    return x.k + 0"},
        ("environ", "1", "2"), ("10", "20"), "types as made", FIRST_ONE),
    Look("an attribute of somebody's type that changes after an overload has seen it in a tuple", {
        "o": "from numba.core import types\nfrom numba.extending import *\nclass Thing:\n    pass\nclass T(types.Type):\n    def __init__(self):\n"
             "        super().__init__(name='T')\nt = T()\nt.k = 10\ntypeof_impl.register(Thing)(lambda value, context: t)\n"
             "register_model(T)(models.OpaqueModel)\nunbox(T)(lambda kind, value, c: NativeValue(c.context.get_dummy_value()))\n"
             "def h(it):\n    raise NotImplementedError\n@overload(h)\ndef over(it):\n    k = it.types[0].k\n    return lambda it: k\ndef change(n):\n    t.k = n",
        "a": "import o\n@numba.njit(cache=True)\ndef f(x):\n    return o.h((x, 1))\n@numba.njit(cache=True)\ndef g(x):\n    return o.h((x, 1)) + 0"},
        ("environ", "1", "2"), ("10", "20"), "types as made", FIRST_ONE),
    passed("an annotation of a jitted function", "import d\n@numba.njit\ndef it(x: d.K):\n    return x", "len(it.dispatcher.py_func.__annotations__['x'])"),
    passed("what somebody has set on a jitted function", "import d\n@numba.njit\ndef it(x):\n    return x\nit.k = d.K", "len(it.dispatcher.k)"),
    passed("the text of a class", "import collections, d\nit = collections.namedtuple('it', 'x')\nit.__doc__ = d.K", "len(it.instance_class.__doc__)", "it(x)"),
    others("a template of signatures for one of Python's functions",
           "infer_global(math.ulp, types.Function(make_concrete_template('H', math.ulp, [signature(kind, types.float64)])))", ULP, "made templates"),
    others("a template of a function for one of Python's functions",
           "infer_global(math.ulp, types.Function(make_callable_template(math.ulp, lambda x: kind)))", ULP, "made templates"),
    others("the type of a global",
           "class A(types.Opaque):\n    pass\nclass B(types.Opaque):\n    pass\nfor K in (A, B):\n    register_model(K)(models.OpaqueModel)\n"
           "    lower_constant(K)(lambda context, builder, kind, value: context.get_dummy_value())\n"
           "def it():\n    pass\ninfer_global(it, {'int64': A, 'float64': B}[T]('It'))\n"
           "def by(x, it):\n    raise NotImplementedError\n@overload(by)\ndef over(x, it):\n"
           "    return (lambda x, it: int(x)) if isinstance(it, A) else (lambda x, it: x)",
           "from o import by, it\n@numba.njit(cache=True)\ndef f(x):\n    return by(x, it)", "types of globals"),
]  # fmt: skip


(
    test_a_change_is_seen,
    test_what_is_right_after_it_is_what_a_plain_numba_gives,
    test_without_the_mechanism_the_old_result_is_served,
) = checks_of(ROWS)
