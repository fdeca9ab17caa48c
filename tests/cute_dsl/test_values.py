"""What the source key sees of values of every kind: the same in every process, and different if they are."""

from __future__ import annotations

import json

import pytest
from project import Project

ROOT_MARKS = """
import cutlass.cute as cute
@cute.jit
def f(x: cute.Int32):
    cute.printf("%d\\n", x + f.tile)
f.tile = {value}
"""


def test_attributes_of_a_function(project: Project) -> None:
    """What is set at the function itself, which its own code asks for."""
    out = []
    for value in (1, 2):
        project.write(a=ROOT_MARKS.format(value=value))
        code = "import a; from jitcache.adapters import cute_dsl; r = cute_dsl.compile(a.f, 1, key='source'); print(r.how, flush=True); r(1)"
        out += [project.check(code).out.split() for _ in range(2)]
    assert out == [["source", "2"]] * 2 + [["source", "3"]] * 2


MEMBER = """
import enum
import cutlass.cute as cute
class E(enum.Enum):
    X = 1
E.X.tile = {value}
@cute.jit
def f(x: cute.Int32):
    cute.printf("%d\\n", x + E.X.tile)
"""


@pytest.mark.parametrize(("without", "second"), [("", "3"), ("given", "2")])
def test_attributes_of_a_member_of_an_enumeration(project: Project, without: str, second: str) -> None:
    """The old result without what a member was given."""
    out = []
    for value in (1, 2):
        project.write(a=MEMBER.format(value=value))
        code = "import a; from jitcache.adapters import cute_dsl; r = cute_dsl.compile(a.f, 1, key='source'); print(r.how, flush=True); r(1)"
        out.append(project.check(code, WITHOUT=without).out.split())
    assert out == [["source", "2"], ["source", second]]


#: What is found in a value of another module, and the mechanism without which the old result is served.
BEHIND = {
    "the class of a partial": ("import functools\nclass A(functools.partial):\n    tile = {value}\nit = A(max)", "it.tile", "set on"),
    "the class of a mapping behind a view": (
        "import types\nfrom c import A\nit = types.MappingProxyType(A())", "it['x']", "proxy"
    ),
    "the name of a class": ("class it:\n    pass\nit.__name__ = 'a' * {value}", "len(it.__name__)", "class"),
    "the number that a member is": (
        "import enum\nclass E(int, enum.Enum):\n    def __new__(cls, value, number):\n        member = int.__new__(cls, number)\n"
        "        member._value_ = value\n        return member\n    X = 'x', {value}\nit = E", "(it.X + 0)", "given"
    ),
    "the types that a type variable stands for": (
        "import typing\nit = typing.TypeVar('it', *[int, float, str][:1 + {value}])", "(len(it.__constraints__) - 1)", "variables of types"
    ),
    "what an abstract class is told to take for its own": (
        "import abc\nclass it:\n    class B(abc.ABC):\n        pass\n    class X:\n        pass\n    class Y:\n        pass\n"
        "it.B.register([it.X, it.Y][{value} - 1])", "(1 + isinstance(it.Y(), it.B))", "told"
    ),
    "what one below Python's abstract class is told": (
        "import numbers\nclass it:\n    base = numbers.Number\nclass X:\n    pass\nnumbers.Integral.register([X, it][{value} - 1])",
        "(1 + isinstance(it(), it.base))", "told"
    ),
    "how exact decimals are": (
        "import decimal\ndecimal.getcontext().prec = {value}\ndef it():\n    return len(str(decimal.Decimal(1) / 3)) - 2", "it()", "contexts"
    ),
    "what a class says is no state": ("class A:\n    __dict__ = property(lambda self: {{}})\nit = A()\nit.tile = {value}", "it.tile", "hidden"),
}  # fmt: skip


@pytest.mark.parametrize("name", BEHIND)
def test_what_is_behind_a_value(project: Project, name: str) -> None:
    """What no file or item says: with its mechanism taken out, the old result."""
    code, asked, without = BEHIND[name]
    f = f"import cutlass.cute as cute\nfrom b import it\n@cute.jit\ndef f(x: cute.Int32):\n    cute.printf('%d\\n', x + {asked})\n"
    run = "import a; from jitcache.adapters import cute_dsl; cute_dsl.compile(a.f, 1, key='source')(1)"
    for mechanisms, expected in (("", ["2", "3"]), (without, ["2", "2"])):
        out = []
        for value in (1, 2):
            c = f"class A(dict):\n    def __getitem__(self, name):\n        return {value}\n"
            project.write(a=f, b=code.format(value=value), c=c)
            out.append(project.check(run, WITHOUT=mechanisms).out)
        assert out == expected
        project.check("from jitcache.adapters import cute_dsl; cute_dsl.clear()")


TENSORS = """
    import json, numpy, cutlass, cutlass.cute as cute
    from cutlass.cute.runtime import from_dlpack
    from jitcache.adapters import cute_dsl
    from jitcache.adapters.cute_dsl._arguments import describe_arguments
    import a
    found = []
    for dtype, size, dynamic in (("f4", 8, False), ("f4", 8, False), ("f8", 8, False), ("f4", 16, False), ("f4", 8, True)):
        data = numpy.arange(size, dtype=dtype)
        tensor = from_dlpack(data)
        if dynamic:
            tensor = tensor.mark_layout_dynamic()
        result = cute_dsl.compile(a.f, tensor, key="source")
        result(from_dlpack(data) if not dynamic else from_dlpack(data).mark_layout_dynamic())
        found.append([result.hit, result.how, float(data[0])])
    class Data:
        dtype, shape = "float32", (8,)
        class device:
            index = 0
    first = describe_arguments((Data(),), {})
    Data.device.index = 1
    print(json.dumps([found, describe_arguments((Data(),), {}) != first]))
"""


def test_tensors_with_data(project: Project) -> None:
    """By type and layout, not by what is in them or where; on the processor's memory here."""
    project.write(a="import cutlass.cute as cute\n@cute.jit\ndef f(x: cute.Tensor):\n    x[0] = x[0] + 5\n")
    for first in (False, True):
        found, by_device = json.loads(project.check(TENSORS).out)
        assert by_device
        assert [row[2] for row in found] == [5.0] * 5
        assert [row[0] for row in found] == ([True] * 5 if first else [False, True, False, False, False])
        assert {row[1] for row in found} == {"source"}


KINDS = """
import collections, dataclasses, enum, functools, typing
import cutlass, cutlass.cute as cute

VALUE = {value}

class Color(enum.Enum):
    RED = VALUE

class Number(enum.IntEnum):
    ONE = VALUE

class Bits(enum.Flag):
    A = 1
    B = VALUE

Pair = collections.namedtuple("Pair", "a b")

class Named(typing.NamedTuple):
    a: int = VALUE

@dataclasses.dataclass(frozen=True)
class Data:
    a: int = VALUE
    b: tuple = (1, 2)

class Slots:
    __slots__ = ("a", "__b")
    def __init__(self):
        self.a, self.__b = 1, VALUE

class Base:
    size = VALUE
class Derived(Base):
    @property
    def twice(self):
        return self.size * 2
    @staticmethod
    def s():
        return 1
    @classmethod
    def c(cls):
        return 2

@cute.struct
class Storage:
    data: cute.struct.MemRange[cutlass.Float32, VALUE]

class Text:
    data: "cute.struct.MemRange[cutlass.Float32, VALUE]"

def f(x, y):
    return x
def marked(x):
    return x
marked.scale = VALUE
@cute.kernel
def kernel(x: cutlass.Int32):
    pass
kernel.tile = VALUE
def decorated(g):
    @functools.wraps(g)
    def inner(*a):
        return g(*a) + VALUE
    return inner

@cute.jit
def jitted(x: cutlass.Int32):
    cute.printf("%d", x + VALUE)

ONE = cute.sym_int()
VALUES = {{
    "enum": Color.RED, "number enum": Number.ONE, "flag": Bits.A, "namedtuple": Pair(1, VALUE), "typed": Named(), "dataclass": Data(), "slots": Slots(), "object": Derived(),
    "class": Derived, "struct": Storage, "text": Text, "partial": functools.partial(f, VALUE), "decorated": decorated(f),
    "method": Derived().c if VALUE == 64 else Derived().s, "builtin": "".join if VALUE == 64 else "".split,
    "c method": str.join if VALUE == 64 else str.split, "dict": {{1: VALUE}}, "order": {{VALUE: 1, 32: 1}}, "set": {{"a", "b", "c", VALUE}},
    "float": float(VALUE), "zero": 0.0 if VALUE == 64 else -0.0, "bool": True if VALUE == 64 else 1, "slice": slice(VALUE), "bytes": bytes(VALUE),
    "jit": jitted, "number": cutlass.Int32(VALUE), "type": cutlass.Int32 if VALUE == 64 else cutlass.Uint32,
    "generic": typing.Union[int, str] if VALUE == 64 else typing.Union[int, bytes],
    "symbols": (ONE, ONE) if VALUE == 64 else (ONE, cute.sym_int()), "range": range(VALUE),
    "marked": marked, "kernel": kernel,
    "lists": [[1]] * 2 if VALUE == 64 else [[1], [1]],
}}
"""

DIGESTS = """
    import hashlib, json, kinds
    from jitcache.adapters.cute_dsl._walk import Walker
    from jitcache.adapters.cute_dsl._arguments import describe_arguments
    found = {}
    for name, value in kinds.VALUES.items():
        found[name] = hashlib.sha256(Walker().describe(value)).hexdigest()
    found["shapes of symbols"] = describe_arguments((kinds.VALUES["symbols"],), {}).hex()
    print(json.dumps(found))
"""


@pytest.mark.parametrize("place", ["builtins", "math", "cutlass"])
def test_module_that_a_program_puts_among_others_counts_by_what_is_in_it(project: Project, place: str) -> None:
    name = "settings" if place == "builtins" else f"{place}.settings"
    project.write(a=f"import math, cutlass\ndef f():\n    return {name}.SIZE\n", kept="SIZE = 64\n")
    code = f"""
        import hashlib, {place}, kept
        {place}.settings = kept
        import a
        from jitcache.adapters.cute_dsl._walk import Walker
        print(hashlib.sha256(Walker().describe(a.f)).hexdigest())
    """
    first = project.check(code).out
    assert project.check(code).out == first
    project.edit("kept", "64", "128")
    assert project.check(code).out != first


def test_module_that_reads_the_world_is_refused_among_the_builtins_too(project: Project) -> None:
    project.write(a="def f():\n    return os.environ['SIZE']\n")
    code = """
        import builtins, os
        builtins.os = os
        import a
        from jitcache.adapters.cute_dsl._walk import Walker
        try:
            Walker().describe(a.f)
        except Exception as e:
            print(e)
    """
    assert project.check(code).out.strip() == "reads the world: os"


def test_values_of_every_kind_are_the_same_in_every_process_and_differ_if_they_do(project: Project) -> None:
    digests = []
    for value, seed in ((64, "1"), (64, "2"), (128, "1")):
        project.write(kinds=KINDS.format(value=value))
        digests.append(json.loads(project.check(DIGESTS, PYTHONHASHSEED=seed).out))
    assert digests[0] == digests[1]
    same = [name for name in digests[0] if digests[0][name] == digests[2][name]]
    assert same == []


def test_a_function_of_the_dsl_that_a_program_replaced(project: Project) -> None:
    """The program puts a function of its own in the DSL's place; what it does is in the key."""
    project.write(
        a="""
        import cutlass.cute as cute
        def loud(text, x):
            cute.print_tensor = None
            return original(text, x)
        original, cute.printf = cute.printf, lambda text, x: original(text, x + 1)
        @cute.jit
        def f(x: cute.Int32):
            cute.printf('%d\\n', x)
        """
    )
    code = "import a; from jitcache.adapters import cute_dsl; r = cute_dsl.compile(a.f, 1, key='source'); print(r.how, flush=True); r(1)"
    first = project.check(code)
    project.edit("a", "x + 1)", "x + 2)")
    second = project.check(code)
    assert (first.out[-1], second.out[-1], second.compiles) == ("2", "3", 1)


def test_adapters_that_a_program_has_registered(project: Project) -> None:
    """They turn an argument into another one, and nothing of the function names them."""
    project.write(
        a="""
        import cutlass, cutlass.cute as cute
        from cutlass.base_dsl.runtime.jit_arg_adapters import JitArgAdapterRegistry
        class Mine:
            pass
        @JitArgAdapterRegistry.register_jit_arg_adapter(Mine)
        def adapt(mine):
            return cutlass.Int32(41)
        @cute.jit
        def f(x, y: cutlass.Constexpr):
            cute.printf("%d\\n", y)
        """
    )
    code = """
        import a
        from jitcache.adapters.cute_dsl._walk import Walker
        from jitcache.adapters.cute_dsl._source import _adapters
        import hashlib
        print(len(_adapters()), hashlib.sha256(Walker().describe(_adapters())).hexdigest())
    """
    first = project.check(code).out
    assert first.startswith("1 ")
    assert project.check(code).out == first
    project.edit("a", "41", "42")
    assert project.check(code).out != first
