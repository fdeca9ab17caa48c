"""What the C++ compiler makes: commands as Inductor and AOTInductor give them, of a source of a few lines."""

from __future__ import annotations

from project import NOTHING, Project

#: Has a command run that makes a library of a source, both in a folder of PyTorch's.
COMPILE = """
import tempfile
from torch._inductor import cpp_builder, exc
def compile(text="int f() { return 42; }", *flags, name="k.main", link="-shared", folder=None):
    room = folder or tempfile.mkdtemp()
    source, made, cwd = f"{room}/{name}.cpp", f"{room}/{name}.so", f"{room}/cwd"
    os.makedirs(cwd, exist_ok=True)
    open(source, "w").write(text)
    cpp_builder.run_compile_cmd(" ".join(["g++", source, *flags, "-O1", "-fPIC", link, "-o", made]), cwd)
    return made
"""


def test_folders_of_pytorch_s_are_in_no_key_and_no_result(empty: Project) -> None:
    code = COMPILE + OURS_G1
    first = empty.run(code)
    assert empty.compiler.started()["cc1plus"] == 1
    assert first["whole"]
    assert not first["named"]
    again = empty.run(code, **empty.folders("other"))
    assert empty.started() == NOTHING
    assert again == first


OURS_G1 = """
adapter.install()
made = compile("int f() { return 42; }", "-g1")
data = open(made, "rb").read()
from jitcache.adapters.torch import _elf
say(named=b"jitcache-run" in data or made.encode() in data or b"other" in data, whole=_elf.is_whole(made), size=len(data), mode=os.stat(made).st_mode)
"""


def test_variables_that_only_libraries_obey_do_not_count(empty: Project) -> None:
    """The library is linked with libtorch, which has 7,000 words that could be names."""
    code = (
        COMPILE
        + "adapter.install()\nlib = os.path.join(os.path.dirname(torch.__file__), 'lib')\n"
        + "compile('int f() { return 42; }', f'-L{lib}', '-Wl,--no-as-needed', '-ltorch_cpu')\nsay()\n"
    )
    empty.run(code)
    empty.compiler.started()
    empty.run(code, OMP_PROC_BIND="true", NCCL_DEBUG="INFO", LOAD="1", PROF="1", DEVICE="a")
    assert empty.started() == NOTHING


def test_what_the_compiler_reads_counts(empty: Project) -> None:
    header = empty.folder / "number.h"
    code = (
        COMPILE
        + "import ctypes\nadapter.install()\n"
        + f'made = compile(\'#include "{header}"\\nextern "C" int f() {{ return N; }}\')\nsay(f=ctypes.CDLL(made).f())\n'
    )
    for number in (1, 2):
        header.write_text(f"#define N {number}\n")
        for compiles in (1, 0):
            assert empty.run(code) == {"f": number}
            assert empty.compiler.started()["cc1plus"] == compiles


def test_error_is_pytorch_s_own_with_the_compiler_s_log_and_runs_it_once(empty: Project) -> None:
    code = (
        COMPILE
        + """
def attempt():
    try:
        compile("int f() { return nothing; }")
    except exc.CppCompileError as e:
        return str(e)
"""
    )
    ours = empty.run(code + "adapter.install()\nsay(error=attempt())\n")["error"]
    assert empty.compiler.started()["cc1plus"] == 1
    plain = empty.run(code + "say(error=attempt())\n")["error"]
    for said in (ours, plain):
        assert "was not declared in this scope" in said
        assert "k.main.cpp" in said
    assert ours.splitlines()[0] == plain.splitlines()[0]


def test_command_that_is_not_understood_is_run_as_it_is(empty: Project) -> None:
    """It names a file of the folder that it runs in."""
    code = (
        COMPILE
        + """
adapter.install()
room = tempfile.mkdtemp()
os.mkdir(f"{room}/cwd")
open(f"{room}/cwd/n.h", "w").write("#define N 42\\n")
made = compile('#include "n.h"\\nint f() { return N; }', "-I.", folder=room)
say(made=os.path.exists(made), uncached=adapter.uncached(), count=adapter.count())
"""
    )
    assert empty.run(code) == {"made": True, "uncached": {"runs in a folder with files": 1}, "count": 0}


ISA = """
adapter.install()
from torch._inductor import cpu_vec_isa
isa = cpu_vec_isa.VecAVX2()
isa._arch_flags = "-mno-such-flag"
def check():
    return bool(isa.check_build("int f();"))
say(works=check() or check())
"""


def test_isa_that_does_not_work_is_tried_again(empty: Project) -> None:
    """The reason may pass: a full disk, a compiler that was killed."""
    assert empty.run(ISA) == {"works": False}
    assert empty.compiler.started()["g++"] >= 2
    assert empty.run(ISA) == {"works": False}
    assert empty.started() != NOTHING
