"""What a kernel looks up and is given is in the key, where Triton's own has not all of it."""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest
import triton
from project import Project, Ran, contents
from triton.runtime import jit

BEGIN = "import triton\nimport triton.language as tl\n"

KERNEL = (
    BEGIN
    + """
{head}

@triton.jit{how}
def k(x, A: tl.constexpr, B: tl.constexpr):
    {before}
    tl.store(x, 1.0 * {value})
"""
)

CALL = """
import app, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from kernel import k
A, B = {constants}
source = ASTSource(k, {{"x": "*fp32", "A": "constexpr", "B": "constexpr"}}, {{"A": A, "B": B}})
kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
app.say(asm=app.digests(kernel), count=__import__("jitcache").default_cache().count("triton"))
"""


class Twins(NamedTuple):
    """Two programs that Triton's key takes for one: what they set, the constants, and what the kernel says."""

    value: str
    head: str = ""
    settings: tuple[str, str] = ("", "")
    constants: tuple[str, str] = ("0, 0", "0, 0")
    before: str = ""  # lines of the kernel
    how: str = ""  # arguments of its decorator


NUMBERS = ("N = 3", "N = 4")
FUNCTION = "import settings\n\n@triton.{how}\ndef f(n):\n    return n * settings.N"

GIVEN = "import settings\n\n@triton.jit\ndef f(n):\n    return n\n\nf.N = settings.N"

TIMES = tuple(BEGIN + f"@triton.jit\ndef f(v):\n    return v * {n}.0" for n in (3, 4))

PATCH = """
from triton.backends import backends
C = backends["nvidia"].compiler
make = C.make_ptx
C.make_ptx = lambda self, *more: make(self, *more) + "// " + settings.N
import settings"""

# What kernels do not name: it is put into Triton, or is a kind of function.
KINDS = """
import ast, settings
from triton.runtime.jit import JITFunction

class Reader(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(settings.N if node.value == 77 else node.value), node)

class Mine(JITFunction):
    def parse(self):
        return Reader().visit(super().parse())

def f(n):
    return n * 77

f = {}"""
SHADOWED = """triton.jit(f)
parse = f.parse
f.parse = lambda: Reader().visit(parse())"""
CONSTANTS = tuple(BEGIN + f"tl.tensor.C = tl.constexpr({n})" for n in (3, 4))
TYPES = tuple(BEGIN + f"tl.tensor.TYPE = tl.{name}" for name in ("int8", "int16"))
SPACES = tuple(BEGIN + f"import types\ntl.tensor.S = types.SimpleNamespace(N={n})" for n in (3, 4))
FILLED = tuple(
    BEGIN + f"import functools\ntl.tensor.f = functools.partialmethod(tl.tensor.to, tl.int{n})" for n in (8, 16)
)
OF_TEXTS = tuple(
    f"import triton.backends.nvidia.compiler as c\nc.sm_arch_from_capability = 'sm_{{}}{x}'.format" for x in ("", "a")
)
TO_OTHERS = "import settings\n\nclass C:\n    __triton_builtin__ = True\n\nc = C()\nc.N = settings.N"
SWAPPED = (
    "import settings\n\n@triton.constexpr_function\ndef f(n):\n    return n\n\nf.fn.__code__ = settings.g.__code__"
)
AGGREGATE = "import settings\n\n@tl.core._aggregate\nclass P:\n    a: tl.tensor\n\nP.N = settings.N"

BACKEND = """
from triton.backends import backends
from triton.backends.nvidia.compiler import CUDABackend

class Mine(CUDABackend):
    def make_ptx(self, *more):
        return super().make_ptx(*more) + "// {}"

backends["nvidia"] = type(backends["nvidia"])(Mine, backends["nvidia"].driver)"""

TWINS = {
    "an attribute of a module": Twins("settings.N", "import settings", ("N = 3", "N = 4")),
    "a constant of a module": Twins(
        "settings.N", "import settings", (BEGIN + "N = tl.constexpr(3)", BEGIN + "N = tl.constexpr(4)")
    ),
    "an attribute of a class of a module": Twins(
        "settings.C.N", "import settings", ("class C:\n    N = 3", "class C:\n    N = 4")
    ),
    "what a function looks up that is called": Twins("f(2)", FUNCTION.format(how="jit"), ("N = 3", "N = 4")),
    "a global that is a number or its text": Twins(
        "(N == 1)", "from settings import N", (BEGIN + "N = tl.constexpr(1)", BEGIN + "N = tl.constexpr('1')")
    ),
    "a function of Triton's by another name": Twins("s.f(2.0)", "import settings as s", (BEGIN + "f = tl.exp", BEGIN + "f = tl.log")),
    "an attribute of a module by a text": Twins("getattr(settings, 'N')", "import settings", NUMBERS),
    "a module in whose place something is put where nothing is compiled": Twins("settings.N", "import settings", NUMBERS, before="if A == 1:\n        settings = 3"),
    "a module in whose place something is put later": Twins("n", "import settings", NUMBERS, before="n = settings.N\n    settings = 3"),
    "a module in whose place something is put in a loop": Twins("n", "import settings", NUMBERS, before="n = 0\n    for settings in tl.static_range(0):\n        n = 1\n    n = settings.N"),
    "an attribute of a function of Triton's": Twins("f.N * f(1.0)", GIVEN, NUMBERS),
    "an attribute of a function of Triton's by a text": Twins("getattr(f, 'N') * 1.0", GIVEN, NUMBERS),
    "an attribute of a type": Twins("T.N", "import settings\nT = tl.dtype('fp32')\nT.N = settings.N", NUMBERS),
    "an attribute that all types have": Twins("tl.load(x).dtype.N", "import settings\ntl.dtype.N = settings.N", NUMBERS),
    "a constant that all tensors have": Twins("tl.load(x).C", "import settings", CONSTANTS),
    "a type that all tensors have": Twins("tl.load(x).to(tl.load(x).TYPE)", "import settings", TYPES),
    "an object of one of Python's types that all tensors have": Twins("tl.load(x).S.N", "import settings", SPACES),
    "an attribute of a function that Triton has, by a text": Twins("getattr(tl.exp, 'N')", "import settings\ntl.exp.N = settings.N", NUMBERS),
    "a kind of function that is read in another way": Twins("f(1)", KINDS.format("Mine(f)"), NUMBERS),
    "what says that it is Triton's, in whose place something is put where nothing is compiled": Twins("c.N", TO_OTHERS, NUMBERS, before="if A == 1:\n        c = 3"),
    "a compiler of the program's": Twins("1", "import settings", (BACKEND.format(1), BACKEND.format(2))),
    "the sign of what is no number": Twins("A", constants=("float('nan'), 0", "-float('nan'), 0")),
    "how the program names its kernels": Twins("1", "import settings", ("N = 'one'", "N = 'two'"), how="(repr=lambda _: settings.N)"),
    "a number and its text": Twins("(A == 1)", constants=("1, 0", "'1', 0")),
    "two texts that join to one": Twins("(A == 'a-b')", constants=("'a-b', 'c'", "'a', 'b-c'")),
}  # fmt: skip
if hasattr(jit, "ConstexprFunction"):  # since Triton 3.4
    RUNS = "import settings\n\n@triton.constexpr_function\ndef f(n):\n    {}\n"
    TWINS |= {
        "a method that the program has given to tensors": Twins("tl.load(x).f()", "from settings import f\ntl.tensor.f = f", TIMES),
        "a method of tensors that the program has replaced": Twins("tl.load(x).exp()", "from settings import f\ntl.tensor.exp = f", TIMES),
        "a function of Triton's compiler that the program has replaced": Twins("1", PATCH, ("N = 'one'", "N = 'two'")),
        "what a function looks up that runs meanwhile": Twins("f(2)", FUNCTION.format(how="constexpr_function"), NUMBERS),
        "a module that has another name in the kernel": Twins("m.N", "import settings", NUMBERS, before="m: tl.constexpr = settings"),
        "an attribute by a text, meanwhile": Twins("f(2)", RUNS.format("return getattr(settings, 'N')"), NUMBERS),
        "all of a module, meanwhile": Twins("f(2)", RUNS.format("return vars(settings)['N']"), NUMBERS),
        "a module that has another name, meanwhile": Twins("f(2)", RUNS.format("return [m.N for m in (settings,)][0]"), NUMBERS),
        "a method of tensors of which the program has filled in an argument": Twins("tl.load(x).f()", "import settings", FILLED),
        "a method of a text that the program has put into Triton's compiler": Twins("1", "import settings", OF_TEXTS),
        "code that the program has put into a function, meanwhile": Twins("f(2)", SWAPPED, tuple(f"def g(n):\n    return n * {n}" for n in (3, 4))),
        "a name that is also one of an inner function": Twins(
            "f(2)", "from settings import C\n\n@triton.constexpr_function\ndef f(n):\n    g = [C for C in (1,)]\n    return C.N", ("class S: N = 3\nC = S()", "class S: N = 4\nC = S()")
        ),
    }  # fmt: skip


if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 8):
    TWINS |= {
        "a module that is passed on": Twins("f(settings)", "import settings\n\n@triton.jit\ndef f(m):\n    return m.N * 1.0", NUMBERS),
        "an attribute of an aggregate": Twins("P(tl.load(x)).N", AGGREGATE, NUMBERS),
    }  # fmt: skip


if hasattr(triton, "knobs"):  # since Triton 3.4
    SETS = """
import triton
triton.knobs.propagate_env = False
triton.knobs.compilation.disable_line_info = {}"""
    HOOK = """
import triton
def hook(self=None, stages=None, *more):
    if stages is None:
        return "mine", "mine"
    make = stages["ptx"]
    stages["ptx"] = lambda *given: make(*given) + "// {}"
triton.knobs.runtime.add_stages_inspection_hook = hook"""
    TWINS |= {
        "a setting that is in no variable": Twins("1", "import settings", (SETS.format(True), SETS.format(False))),
        "a hook that changes what the compiler does": Twins("1", "import settings", (HOOK.format(1), HOOK.format(2))),
    }

if not hasattr(jit, "ConstexprFunction"):  # newer ones make no such pointer in a kernel
    POINTER = BEGIN + "T = tl.pointer_type(tl.float32, {})"
    TWINS["where a pointer points to"] = Twins(
        "tl.load(x.to(tl.int64).to(settings.T))", "import settings", (POINTER.format(1), POINTER.format(3))
    )


def write(project: Project, twins: Twins, which: int) -> str:
    """Write one of two programs, and return the call."""
    (project.folder / "kernel.py").write_text(KERNEL.format(**twins._asdict()))
    (project.folder / "settings.py").write_text(twins.settings[which])
    return CALL.format(constants=twins.constants[which])


def asm(ran: Ran) -> object:
    return ran.said["asm"]


@pytest.mark.parametrize("what", TWINS)
def test_twins_are_two_kernels(project: Project, what: str) -> None:
    first = project.ours(write(project, TWINS[what], 0))
    code = write(project, TWINS[what], 1)
    second = project.ours(code)
    assert second.compiles == 1
    assert asm(second) == asm(project.check(code, TRITON_CACHE_DIR=str(project.folder / "other")))
    assert asm(second) != asm(first)
    again = project.ours(write(project, TWINS[what], 0))
    assert (asm(again), again.compiles) == (asm(first), 0)


def test_the_files_of_a_kernel_stay_when_its_twin_is_compiled(project: Project) -> None:
    """Else a process that has found them, and reads them a moment later, would have the other kernel's."""
    what = TWINS["an attribute of a module"]
    project.ours(write(project, what, 0))
    first = contents(project.own)
    assert any(name.endswith(".cubin") for name in first)
    project.ours(write(project, what, 1))
    after = contents(project.own)
    assert {name: after.get(name) for name in first} == first
    assert sum(name.endswith(".cubin") for name in after) == 2


@pytest.mark.parametrize("what", TWINS)
def test_what_triton_s_own_manager_does_with_it(project: Project, what: str) -> None:
    """The other column of the table in docs/triton.md: it takes one for the other."""
    first = project.check(write(project, TWINS[what], 0))
    second = project.check(write(project, TWINS[what], 1))
    assert (asm(second), second.compiles) == (asm(first), 0)


#: What a function that runs meanwhile asks for, and what the program has done.
UNFOLLOWED = {
    "hashes of texts, which each process has of its own": ("return hash('a') % 100", ""),
    "globals of a function": ("return (lambda: 0).__globals__['settings'].N", "N = 3"),
    "a builtin of the program's": ("return divmod(n, 1)[0]", "import builtins\nbuiltins.divmod = lambda a, b: (9, 9)"),
}

OUTSIDE = """
import os

@triton.constexpr_function
def f():
    return int(os.environ["SIZE"])
"""


if hasattr(jit, "ConstexprFunction"):

    def test_a_function_that_says_it_is_triton_s_is_not_taken_for_that(project: Project) -> None:
        one, other = (
            Twins("settings.f(tl.load(x))", "import settings", (WRAPPED.format(name), "")) for name in ("exp", "log")
        )
        first = project.ours(write(project, one, 0))
        code = write(project, other, 0)
        plain = project.check(code, TRITON_CACHE_DIR=str(project.folder / "other"))
        assert asm(project.ours(code)) == asm(plain) != asm(first)

    def test_a_module_of_triton_s_that_is_passed_on_is_not_kept(project: Project) -> None:
        """A program may have put something there, and a text asks for anything."""
        passed = "import settings\n\n@triton.constexpr_function\ndef f():\n    return getattr(tl, 'MINE')"
        found = []
        for number in (3, 4):
            code = write(project, Twins("f()", passed, (BEGIN + f"tl.MINE = {number}", "")), 0)
            found.append(project.ours(code))
        assert asm(found[0]) != asm(found[1])
        assert [ran.said["count"] for ran in found] == [0, 0]

    def test_what_triton_s_own_function_makes_of_a_program_s_is_the_program_s(project: Project) -> None:
        """It is in Triton's file, and holds the program's."""
        made = (
            "@tl.core._tensor_member_fn\n@tl.core.builtin\ndef f(self, _semantic=None):\n    return tl.constexpr({})\n"
        )
        found = []
        for number in (3, 4):
            code = write(project, Twins("tl.load(x).f()", "import settings", (BEGIN + made.format(number), "")), 0)
            found.append(project.ours(code))
        assert asm(found[1]) == asm(project.check(code, TRITON_CACHE_DIR=str(project.folder / "other")))
        assert asm(found[0]) != asm(found[1])

    def test_a_function_that_is_read_in_another_way_is_not_taken_for_what_its_text_says(project: Project) -> None:
        found = []
        for number in (3, 4):
            code = write(project, Twins("f(1)", KINDS.format(SHADOWED), (f"N = {number}", "")), 0)
            found.append(project.ours(code))
        assert asm(found[1]) == asm(project.check(code, TRITON_CACHE_DIR=str(project.folder / "other")))
        assert asm(found[0]) != asm(found[1])

    def test_a_kernel_that_looks_outside_while_it_is_compiled_is_not_kept(project: Project) -> None:
        code = write(project, Twins("f()", OUTSIDE), 0)
        three, four = (project.ours(code, SIZE=size) for size in ("3", "4"))
        assert asm(three) != asm(four)
        assert (three.said["count"], four.said["count"]) == (0, 0)

    @pytest.mark.parametrize("what", UNFOLLOWED)
    def test_what_nobody_can_follow_is_not_kept(project: Project, what: str) -> None:
        body, settings = UNFOLLOWED[what]
        code = write(project, Twins("f(2)", RUNS.format(body), (settings, "")), 0)
        ran = project.ours(code, PYTHONHASHSEED="random")
        assert (ran.compiles, ran.said["count"]) == (1, 0)

    def test_what_python_depends_on_counts_for_what_it_runs(project: Project) -> None:
        code = write(project, Twins("f(2)", RUNS.format("return n")), 0)
        deeper = "import sys\nsys.setrecursionlimit(3000)\n"
        assert [project.ours(more + code).compiles for more in ("", deeper, "")] == [1, 1, 0]

    def test_a_layout_is_described_by_what_it_holds(project: Project) -> None:
        """And not by the files of Triton, which are in Triton's key: one of these has 500 MB."""
        code = """
            from triton.experimental.gluon.language import BlockedLayout
            from jitcache.adapters.triton._meanings import _Walk
            print(*{_Walk()._text(BlockedLayout([1], [32], [warps], [0])) for warps in (4, 8)}, sep="\\n")
        """
        lines = project.check(code).out.splitlines()
        assert len(lines) == 2
        assert all("warps_per_cta" in line for line in lines)


#: What a program changes in place in Triton's functions, after it has compiled something.
LATER = {
    "code": ("1", "import triton.backends.nvidia.compiler as c\nc.sm_arch_from_capability.__code__ = (lambda n: f'sm_{{n}}{}').__code__", ("", "a")),
    "an attribute": ("getattr(tl.exp, 'N')", "import triton.language as tl\ntl.exp.N = {}", ("3", "4")),
}  # fmt: skip


@pytest.mark.parametrize("what", LATER)
def test_what_is_changed_in_triton_after_a_compile_counts(project: Project, what: str) -> None:
    value, change, values = LATER[what]
    write(project, Twins(f"(1 if A == 0 else {value})"), 0)
    ran = []
    for one in values:
        code = CALL.format(constants="0, 0") + change.format(one) + CALL.format(constants="1, 0")
        plain = project.check(code, TRITON_CACHE_DIR=str(project.folder / f"other {one}"))
        ran.append(project.ours(code))
        assert asm(ran[-1]) == asm(plain)
    assert asm(ran[0]) != asm(ran[1])
    assert [r.compiles for r in ran] == [2, 1]


#: What Triton does at a function's first launch, without a device.
LAUNCHED = """
import types
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from kernel import f
driver.set_active(types.SimpleNamespace(get_current_target=lambda: GPUTarget("cuda", 90, 32)))
f.create_binder()
"""


@pytest.mark.skipif(not hasattr(jit.JITFunction, "create_binder"), reason="this Triton keeps nothing on the function")
def test_a_function_that_was_launched_before_is_the_same_function(project: Project) -> None:
    """Triton sets attributes on it then, and only its own."""
    code = write(project, Twins("f(2)", FUNCTION.format(how="jit"), ("N = 3", "")), 0)
    ran = [project.ours(before + code) for before in ("", LAUNCHED, LAUNCHED + "f.compile = lambda: 0\n")]
    assert [r.compiles for r in ran] == [1, 0, 1]


def test_names_that_are_local_are_no_globals(project: Project) -> None:
    """A program has data by the names that its kernels give to what they load; nothing of that counts, or is refused."""
    head = "class Data:\n    held = iter(())\n\nn = Data()\nm = Data()"
    before = "n = tl.load(x)\n    if A == 0:\n        m = n\n    if A == 0:\n        n += m"
    code = write(project, Twins("n", head, before=before), 0)
    assert [project.ours(code).compiles for _ in range(2)] == [1, 0]


def test_a_file_that_a_variable_of_triton_s_names_counts(project: Project) -> None:
    """A plugin of the compiler, say: Triton's key has the name."""
    code = write(project, Twins("1"), 0)
    plugin = project.folder / "plugin"
    for text, compiles in (("one", 1), ("two", 1), ("one", 0)):
        plugin.write_text(text)
        assert project.ours(code, MLIR_DUMP_PATH=f"{project.folder}/none:{plugin}").compiles == compiles


@pytest.mark.skipif(not hasattr(triton, "knobs"), reason="settings are objects since Triton 3.4")
def test_a_program_that_a_variable_of_triton_s_names_counts(project: Project) -> None:
    """Triton's key has its version alone. Here size and modification time stay, too."""
    code = write(project, Twins("(tl.load(x) * 2.0 + tl.load(x + 1))"), 0)
    found = []
    for option, compiles in (("--fmad=true ", 1), ("--fmad=false", 1), ("--fmad=true ", 0)):
        for witness in project.folder.glob("ptxas*"):
            text = witness.read_text().splitlines()
            text[-1] = text[-1].partition(' "$@"')[0] + f' "$@" {option}'
            before = witness.stat()
            witness.write_text("\n".join(text) + "\n")
            os.utime(witness, ns=(before.st_atime_ns, before.st_mtime_ns))
        ran = project.ours(code)
        assert ran.compiles == compiles
        found.append(asm(ran))
    assert found[0] == found[2]


def test_files_that_options_name_are_read_each_time(project: Project) -> None:
    """Triton reads a library once in a process, and links what is there later."""
    code = """
        from types import SimpleNamespace
        from jitcache.adapters.triton._named_files import named_files
        def seen():
            return named_files({"options": SimpleNamespace(extern_libs=(("mine", "library.bc"),)), "env_vars": {}})
        found = []
        for text in ("one", "two"):
            open("library.bc", "w").write(text)
            found.append(seen())
        print(found[0] != found[1], len(found[0]))
    """
    assert project.check(code).out == "True 1"


WRAPPED = """
import functools
import triton.language as tl

@functools.wraps(tl.exp)
def f(x, _semantic=None, **more):
    return tl.{}(x, _semantic=_semantic, **more)
"""


CHANGED = """
import settings
from triton.compiler import ASTSource
original = ASTSource.make_ir
def make_ir(self, *args):
    settings.N = 5
    return original(self, *args)
ASTSource.make_ir = make_ir
"""


def test_what_changes_while_a_kernel_is_compiled_is_not_kept(project: Project) -> None:
    code = write(project, TWINS["an attribute of a module"], 0)
    assert project.ours(CHANGED + code).said["count"] == 0
    assert project.ours(code).compiles == 1


UNSEEN = """
import app, jitcache
from jitcache.adapters import triton as ours
from triton.runtime.cache import get_cache_manager
manager = get_cache_manager("5a" * 32)
found = manager.get_group("kernel.json")
path = manager.put(b"{}", "kernel.json")
manager.put_group("kernel.json", {"kernel.json": path})
app.say(found=found, count=jitcache.default_cache().count("triton"), uncached=ours.uncached())
"""


def test_a_group_whose_kernel_is_not_seen_is_not_kept(project: Project) -> None:
    """Its meanings would be missing in the key: those who ask are not always Triton's own compile."""
    assert project.ours(UNSEEN).said == {"found": None, "count": 0, "uncached": {"source not seen: NoneType": 1}}
