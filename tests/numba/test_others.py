"""Code of others that runs while Numba compiles: it may read anything, so no result of it is kept by source.

A program has functions that each use something of others that reads one thing of its process. After a
change of all these things, each result is that of a plain Numba; with the rule taken out, it is the old one.
"""

from __future__ import annotations

import os
import sys

import pytest
from project import Project

READS = {
    "a filter of warnings": "1 if [f[0] for f in warnings.filters if f[1] is not None and f[1].pattern == 'mine'] == ['ignore'] else 2",
    "a setting of Numba's": "1 + numba.config.DEVELOPER_MODE",
    "another setting of Numba's": "len(numba.config.COLOR_SCHEME)",
    "the level of a logger": "logging.getLogger('mine.below').getEffectiveLevel()",
    "how many handlers there are": "len(logging.getLogger('mine').handlers)",
    "the zone of time": "-time.timezone // 3600",
    "the locale": "len(locale.setlocale(locale.LC_CTYPE))",
    "what NumPy does with errors": "len(numpy.geterr()['over'])",
    "how deep calls may go": "sys.getrecursionlimit()",
    "the precision of decimals": "decimal.getcontext().prec",
    "a limit of the system": "resource.getrlimit(resource.RLIMIT_CORE)[0]",
    "what a signal does": "1 if signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN else 2",
    "a timeout": "int(socket.getdefaulttimeout())",
    "when garbage is collected": "gc.get_threshold()[0]",
    "a random number of a seed": "random.Random(random.getstate()[1][1]).randrange(10**6)",
}
if len(os.sched_getaffinity(0)) > 1:
    READS["the processors"] = "len(os.sched_getaffinity(0))"
IMPORTS = "import decimal, gc, locale, logging, numpy, os, random, resource, signal, socket, sys, time, warnings"
#: Sets everything that is read, by $VALUE.
STATE = f"""
{IMPORTS}
V = int(os.environ["VALUE"])
warnings.filterwarnings(["ignore", "error"][V - 1], message="mine")
numba.config.DEVELOPER_MODE = V - 1
numba.config.COLOR_SCHEME = ["no_color", "dark_bg"][V - 1]
logging.getLogger("mine").setLevel(10 * V)
logging.getLogger("mine").handlers[:] = [logging.NullHandler()] * V
os.environ["TZ"] = f"XXX-{{V}}"
time.tzset()
locale.setlocale(locale.LC_CTYPE, ["C", "C.UTF-8"][V - 1])
numpy.seterr(over=["ignore", "warn"][V - 1])
sys.setrecursionlimit(2000 + V)
decimal.getcontext().prec = 20 + V
resource.setrlimit(resource.RLIMIT_CORE, (V, resource.getrlimit(resource.RLIMIT_CORE)[1]))
signal.signal(signal.SIGUSR1, [signal.SIG_IGN, signal.SIG_DFL][V - 1])
socket.setdefaulttimeout(V)
gc.set_threshold(700 + V)
random.seed(V)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:V])
"""
SITES = {
    "the body of an overload": """
def h{n}(x):
    raise NotImplementedError
@overload(h{n})
def over{n}(x):
    k = {read}
    return lambda x: k
""",
    "an intrinsic": """
@intrinsic
def h{n}(context, x):
    def make(context, builder, signature, args):
        return context.get_constant(types.int64, {read})
    return types.int64(x), make
""",
    "a lowering": """
def h{n}(x):
    raise NotImplementedError
@type_callable(h{n})
def typed{n}(context):
    return lambda x: types.int64
@lower_builtin(h{n}, types.Any)
def lower{n}(context, builder, signature, args):
    return context.get_constant(types.int64, {read})
""",
    "a template": """
def h{n}(x):
    raise NotImplementedError
@infer_global(h{n})
class H{n}(AbstractTemplate):
    def generic(self, args, kws):
        return signature(types.Tuple([types.int64] * ({read} % 97)), *args)
@lower_builtin(h{n}, types.Any)
def lower{n}(context, builder, sig, args):
    return context.get_constant_null(sig.return_type)
""",
}
EXTENDING = f"""
{IMPORTS}
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import *
"""
USE = """
@numba.njit
def f{n}(x):
    return {h}(x)
"""
CALL = f"import c, a; print([getattr(a, f'f{{n}}')(1) for n in range({len(READS)})])"


def write(project: Project, site: str) -> None:
    parts = [SITES[site].format(n=n, read=read) for n, read in enumerate(READS.values())]
    names = ", ".join(f"h{n}" for n in range(len(READS)))
    uses = [USE.format(n=n, h=f"h{n}") for n in range(len(READS))]
    project.write(c=STATE, o=EXTENDING + "".join(parts), a=f"from o import {names}\n" + "".join(uses))


@pytest.mark.parametrize("site", SITES)
def test_what_code_of_others_reads_is_read_in_each_process(project: Project, site: str) -> None:
    write(project, site)
    found = [project.check(CALL, "everything", VALUE=value).out for value in ("1", "2", "1")]
    assert found == [project.plain(CALL, VALUE=value) for value in ("1", "2", "1")]
    assert found[0] != found[1]


@pytest.mark.parametrize("site", SITES)
def test_without_the_rule_what_was_read_before_is_served(project: Project, site: str) -> None:
    write(project, site)
    first, second = (eval(project.check(CALL, "everything", VALUE=value, WITHOUT="others").out) for value in ("1", "2"))
    right = [eval(project.plain(CALL, VALUE=value)) for value in ("1", "2")]
    changes = [name for name, one, two in zip(READS, *right) if one != two]
    old = {name for name, one, two in zip(READS, first, second) if one == two}
    assert first == right[0]
    assert len(changes) == len(READS)
    assert old >= {"a filter of warnings", "what NumPy does with errors", "a limit of the system", "a timeout"}, old


HANDED = """
from o import h0
@numba.njit
def first(x):
    return h0(x)
@numba.njit
def second(x):
    return h0(x), 0
@numba.njit
def third(x):
    return first(x), 0
@numba.njit
def fourth(x):
    return third(x), 0
"""


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("without", ["", "inherited"])
def test_who_uses_what_code_of_others_has_made_is_as_that(project: Project, site: str, without: str) -> None:
    """The second function runs nothing of others: Numba keeps what it has typed and compiled for the first."""
    read = READS["what NumPy does with errors"]
    project.write(c=STATE, o=EXTENDING + SITES[site].format(n=0, read=read), a=HANDED)
    call = "import c, a; print(a.first(1), a.second(1), a.third(1), a.fourth(1))"
    found = [project.check(call, "everything", VALUE=value, WITHOUT=without).out for value in ("1", "2")]
    plain = [project.plain(call, VALUE=value) for value in ("1", "2")]
    assert found[0] == plain[0]
    assert (found[1] == plain[1]) == (not without)


FORMS = {
    "a module's __getattr__": ("import time\ndef __getattr__(name):\n    return READ", "import o", "x * o.K"),
    "a property of a module": (
        "import sys, time, types\nclass M(types.ModuleType):\n    @property\n    def K(self):\n        return READ\n"
        "sys.modules[__name__].__class__ = M",
        "import o",
        "x * o.K",
    ),
    "a function of an enumeration": (
        "import enum, time\nclass E(enum.Enum):\n    A = 1\n    @property\n    def value(self):\n        return READ",
        "from o import E",
        "x * E.A.value",
    ),
    "a metaclass of an enumeration": (
        "import enum, time\nclass M(enum.EnumMeta):\n    def __len__(cls):\n        return READ\n"
        "class E(enum.Enum, metaclass=M):\n    A = 1",
        "from o import E",
        "x + (E.A == E.A)",
    ),
    "the option inline": (
        "import time\n@numba.njit(inline=lambda *_: READ == 2)\ndef g(x):\n    return x",
        "from o import g",
        "g(x)",
    ),
    "an attribute of a type": (
        "import time\nfrom numba.core import types\nfrom numba.extending import *\nclass Thing:\n    pass\nclass T(types.Opaque):\n"
        "    @property\n    def K(self):\n        return READ\nt = T('T')\ntypeof_impl.register(Thing)(lambda v, c: t)\n"
        "register_model(T)(models.OpaqueModel)\nunbox(T)(lambda kind, v, c: NativeValue(c.context.get_dummy_value()))\nit = Thing()",
        "from o import it",
        "x",
    ),
    "a class of tuples": (
        "import time\nclass it(tuple):\n    def __iter__(self):\n        return iter(range(READ))\nit = it((1, 2))",
        "from o import it",
        "x * len(it)",
    ),
    "an attribute that an object is asked for": ("class A:\n    pass\nit = A()", "from o import it", "x * it.k"),
    "a listener": (
        "from numba.core import event\nclass L(event.Listener):\n    def on_start(self, event):\n        pass\n    def on_end(self, event):\n        pass\n"
        "event.register('numba:compile', L())",
        "import o",
        "x",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_may_run_where_nobody_sees_it_is_not_kept_by_source(project: Project, form: str) -> None:
    """Before Python 3.12 what runs is seen only where Numba calls what others have registered."""
    o, imports, value = FORMS[form]
    argument = "" if form != "an attribute of a type" else ", y=it"
    call = "a.f(1, a.it)" if argument else "a.f(1)"
    project.write(
        o=o.replace("READ", "(1 + int(time.tzname == 0))"),
        a=f"{imports}\n@numba.njit\ndef f(x{argument.replace('=it', '')}):\n    return {value}",
    )
    code = f"import a\ntry:\n    {call}\nexcept Exception:\n    pass\n{TOLD}"
    ran = project.run(code, "everything")
    assert "'code of others': 1" in ran.out, ran
    if sys.version_info >= (3, 12):
        return  # there all that runs is seen, so the forms are not needed
    without = "listener" if form == "a listener" else "forms"
    ran = project.run(code, "everything", WITHOUT=without)
    assert "'code of others': 1" not in ran.out or form == "an attribute of a type", ran


TOLD = "from jitcache.adapters import numba as j; print(j.uncached())"
ORDINARY = """
import collections, enum, typing, numpy
from numba.core import types
from numba.experimental import structref
from numba.extending import register_jitable
from numba.typed import Dict, List
class Kind(enum.IntEnum):
    A = 1
    B = 2
class Plain(enum.Enum):
    A = "a"
P = collections.namedtuple("P", "x y")
class Q(typing.NamedTuple):
    x: int
    def twice(self):
        return self.x * 2
class Wrong(Exception):
    def __init__(self, text, code=1):
        super().__init__(text)
@structref.register
class PairType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)
class Pair(structref.StructRefProxy):
    def __new__(cls, a, b):
        return structref.StructRefProxy.__new__(cls, a, b)
    @property
    def a(self):
        return get_a(self)
@numba.njit
def get_a(self):
    return self.a
structref.define_proxy(Pair, PairType, ["a", "b"])
class Same(types.StructRef):
    pass
structref.register(Same)
class Two(structref.StructRefProxy):
    pass
structref.define_proxy(Two, Same, ["a", "b"])
record = numpy.dtype([("a", "i8"), ("b", "f8")])
TABLE = numpy.arange(5)
@register_jitable
def helper(x):
    return x + TABLE[1]
def make(k):
    @numba.njit
    def closure(x):
        return x * k
    return closure
three = make(3)
@numba.vectorize
def v(x):
    return x + 1
@numba.stencil
def s(x):
    return x[0] + x[-1]
@numba.njit
def fields(x):
    a = numpy.zeros(2, record)
    a[0].a = x
    return a[0].a
@numba.njit(parallel=True)
def f(x):
    if x < 0:
        raise Wrong("negative", 2)
    d = Dict.empty(types.int64, types.int64)
    d[1] = helper(three(x))
    names = List()
    names.append(P(x, Kind.B).y)
    total = d[1] + names[0] + Q(x).x
    if Plain.A == Plain.A:
        total += int(v(numpy.ones(2)).sum() + s(numpy.ones(3)).sum())
    for i in numba.prange(3):
        total += i
    return fields(total) + Two(total, 1).a + len("abc")
"""


def test_ordinary_code_is_kept_by_source(project: Project) -> None:
    project.write(a=ORDINARY)
    code = f"import a; print(a.f(1)); {TOLD}"
    first = project.check(code, "everything")
    assert first.out.splitlines()[1] == "{}"
    again = project.check(code, "everything")
    assert (again.out, again.compiled, again.by_llvm) == (first.out, [], [])


# What Numba calls of others outside the methods in which it is seen before Python 3.12, or what is not Python's. What
# Numba lowers for each is its own.
UNSEEN = {
    "the key by which a template is lowered": (
        "class H(ConcreteTemplate):\n    key = h\n    cases = [signature(types.int64, types.int64, types.int64)]\n"
        "    def get_impl_key(self, sig):\n        return operator.add if READ == 6 else operator.mul\n"
        "infer_global(h, types.Function(H))",
        "h(x, 5)",
    ),
    "how a template is applied": (
        "class H(ConcreteTemplate):\n    key = h\n    cases = [signature(types.int64, types.int64, types.int64)]\n"
        "    def apply(self, args, kws):\n        self.uses = operator.add if READ == 6 else operator.mul\n"
        "        return self.cases[0]\n"
        "    def get_impl_key(self, sig):\n        return self.uses\n"
        "infer_global(h, types.Function(H))",
        "h(x, 5)",
    ),
    "a function type": (
        "class H(ConcreteTemplate):\n    key = h\n    cases = [signature(types.int64, types.int64, types.int64)]\n"
        "class F(types.Function):\n    def get_impl_key(self, sig):\n        return operator.add if READ == 6 else operator.mul\n"
        "register_model(F)(models.OpaqueModel)\ninfer_global(h, F(H))",
        "h(x, 5)",
    ),
    "a template in C": (
        "TABLE = {(types.int64,): signature(types.Tuple([types.int64] * READ), types.int64)}\n"
        "class H(AbstractTemplate):\n    key = h\n    generic = TABLE.get\n"
        "infer_global(h, types.Function(H))\n"
        "lower_builtin(h, types.Any)(lambda context, builder, sig, args: context.get_constant_null(sig.return_type))",
        "len(h(x))",
    ),
}


@pytest.mark.parametrize("without", ["", "unseen"])
@pytest.mark.parametrize("form", UNSEEN)
def test_what_runs_where_nobody_looks_is_not_kept_by_source(project: Project, form: str, without: str) -> None:
    made, value = UNSEEN[form]
    project.write(
        c=STATE,
        a="import numpy, operator\nfrom numba.core import types\nfrom numba.core.typing.templates import *\nfrom numba.extending import *\n"
        "def h(*_):\n    raise NotImplementedError\n"
        + made.replace("READ", "len(numpy.geterr()['over'])")
        + f"\n@numba.njit\ndef f(x):\n    return {value}\n",
    )
    call = f"import c, a; print(a.f(1)); {TOLD}"
    ran = [project.check(call, "everything", VALUE=v, WITHOUT=without).out.splitlines() for v in ("1", "2", "1")]
    if without and sys.version_info < (3, 12) and form != "a template in C":
        assert ran[0][0] == ran[1][0], ran  # the control is red: the first result is served
    elif not without:
        assert [out for out, _ in ran] == (["6", "5", "6"] if "5" in value else ["6", "4", "6"])
        assert all("'code of others': 1" in told for _, told in ran), ran
