"""What is found is what would be compiled: beside CuPy's own cache."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import CALL, OURS, Project

INCLUDES = """call('#include "value.h"\\nextern "C" __global__ void k(int *p) { *p = VALUE; }', ("-I" + os.environ["HEADERS"],))\n"""


def headers(project: Project, value: int) -> dict[str, str]:
    """Write the header of a program, and return what its process needs."""
    folder = project.folder / "headers"
    folder.mkdir(exist_ok=True)
    (folder / "value.h").write_text(f"#define VALUE {value}\n")
    return {"HEADERS": str(folder)}


def test_fresh_process_compiles_nothing_and_has_the_code_that_cupy_makes(project: Project) -> None:
    first = project.run(OURS + CALL)
    assert project.compiled() == 1
    assert project.run(OURS + CALL) == first
    assert project.compiled() == 0
    assert project.run(CALL) == first
    assert project.compiled() == 2


def test_with_cupy_s_own_cache_a_fresh_process_compiles_an_empty_source(project: Project) -> None:
    """The other column of the table in docs/cupy.md."""
    project.run(CALL)
    assert project.compiled() == 2
    project.run(CALL)
    assert project.compiled() == 1


@pytest.mark.parametrize("what", ["K + '//'", "K, ('-DX',)", "K, arch='90'", "K.replace('1', '2')"])
def test_what_differs_is_compiled(project: Project, what: str) -> None:
    project.run(OURS + CALL)
    project.run(OURS + f"call({what})\n")
    assert project.compiled() == 2
    project.run(OURS + f"call(); call({what})\n")
    assert project.compiled() == 0


def test_header_that_changed_is_seen(project: Project) -> None:
    first = project.run(OURS + INCLUDES, **headers(project, 1))
    second = project.run(OURS + INCLUDES, **headers(project, 2))
    assert second != first
    assert project.compiled() == 2
    assert project.run(OURS + INCLUDES, **headers(project, 1)) == first
    assert project.compiled() == 0


FIRST = INCLUDES.replace('("-I"', '("-I" + os.environ["HEADERS"] + "/first", "-I"')


def put_before(project: Project) -> None:
    """Write a header of the same name to a folder that comes before in the path of FIRST."""
    before = project.folder / "headers" / "first"
    before.mkdir()
    (before / "value.h").write_text("#define VALUE 3\n")


def test_header_that_comes_before_in_the_path_is_seen(project: Project) -> None:
    first = project.run(OURS + FIRST, **headers(project, 1))
    put_before(project)
    assert project.run(OURS + FIRST, **headers(project, 1)) != first


def test_with_cupy_s_own_cache_the_old_code_is_used(project: Project) -> None:
    """The other column of the table in docs/cupy.md."""
    first = project.run(INCLUDES, **headers(project, 1))
    assert project.run(INCLUDES, **headers(project, 2)) == first


def test_with_cupy_s_own_cache_a_header_that_comes_before_is_not_seen(project: Project) -> None:
    """The other column of the table in docs/cupy.md."""
    first = project.run(FIRST, **headers(project, 1))
    put_before(project)
    assert project.run(FIRST, **headers(project, 1)) == first


OWN_HEADERS = """
from cupy._core import core
compiler._get_arch = lambda: "80"
m = core.compile_with_cache('extern "C" __global__ void k(complex<float> *p) { *p += complex<float>(2); }', (), arch="80")
say(code=digest(m))
"""


def test_kernel_with_cupy_s_own_headers_is_kept(project: Project) -> None:
    """As elementwise kernels and reductions are made."""
    first = project.run(OURS + OWN_HEADERS)
    assert project.compiled() == 1
    assert project.run(OURS + OWN_HEADERS) == first
    assert project.compiled() == 0


DATED = "call('extern \"C\" __global__ void k(const char **p) { *p = __DATE__ __TIME__; }')\n"


def test_code_that_shows_the_time_is_compiled_each_time(project: Project) -> None:
    for _ in range(2):
        said = project.run(OURS + DATED + "say(count=adapter.count(), why=adapter.uncached())\n")
        assert said["count"] == 0
        assert len(said["why"]) == 1
    assert project.compiled() == 2


def test_with_cupy_s_own_cache_it_shows_the_first(project: Project) -> None:
    """The other column of the table in docs/cupy.md."""
    first = project.run(DATED)
    project.compiled()
    assert project.run(DATED) == first
    assert project.compiled() == 1


def rebuild(nvrtc: Path) -> None:
    """Make an NVRTC another build of the same version."""
    with nvrtc.open("ab") as f:
        f.write(b"another build")


def test_code_of_another_compiler_is_not_used(project: Project, counted: Path) -> None:
    project.run(OURS + CALL)
    project.compiled()
    rebuild(counted)
    project.run(OURS + CALL)
    assert project.compiled() == 1


def test_with_cupy_s_own_cache_it_is_used(project: Project, counted: Path) -> None:
    """The other column of the table in docs/cupy.md: one compile, of an empty source."""
    project.run(CALL)
    project.compiled()
    rebuild(counted)
    project.run(CALL)
    assert project.compiled() == 1


def test_quoted_header_is_not_looked_for_where_the_process_works(project: Project) -> None:
    """As with CuPy's own, whose source lies in a folder of its own."""
    headers(project, 1)
    (project.folder / "value.h").write_text("#define VALUE 1\n")
    code = """
try:
    compiled('#include "value.h"\\nextern "C" __global__ void k(int *p) { *p = VALUE; }')
except compiler.CompileException as e:
    say(failed="value.h" in str(e))
else:
    say(failed=False)
"""
    assert project.run(OURS + code) == {"failed": True}
    assert project.run(code) == {"failed": True}


NAMES = """
names = ("axpy<float>", "axpy<double>")
m = compiled(T, name_expressions=names)
say(code=digest(m), names=m.mapping)
"""


def test_names_of_templates_come_back(project: Project) -> None:
    first = project.run(OURS + NAMES)
    assert sorted(first["names"].values()) == ["_Z4axpyIdEvT_PS0_", "_Z4axpyIfEvT_PS0_"]
    project.compiled()
    assert project.run(OURS + NAMES) == first
    assert project.compiled() == 0
    assert project.run(NAMES) == first


def test_names_that_are_not_seen_outside_differ_where_sources_do(project: Project) -> None:
    """Code of two sources may be linked; NVRTC takes the source's name for these."""
    source = 'namespace n { static __device__ int hidden = 7; } extern "C" __global__ void k(int *p) { *p = n::hidden++ + %d; }'
    code = f"""
import re
names = [set(re.findall(rb"_INTERNAL_[0-9a-zA-Z_]*", compiled({source!r} % n).code)) for n in (1, 2)]
say(some=all(names), common=len(names[0] & names[1]))
"""
    assert project.run(OURS + code) == {"some": True, "common": 0}
    assert project.run(code) == {"some": True, "common": 0}


LTO = "call(T + K, to_ltoir=True)\n"


def test_ltoir_is_kept(project: Project) -> None:
    first = project.run(OURS + LTO)
    project.compiled()
    assert project.run(OURS + LTO) == first
    assert project.compiled() == 0


def test_what_the_compiler_said_is_said_again(project: Project) -> None:
    code = """
import io
log = io.StringIO()
compiled(K + " __global__ void unused() { int never; }", log_stream=log)
say(log=log.getvalue())
"""
    first = project.run(OURS + code)
    assert "never" in first["log"]
    assert project.run(OURS + code) == first


#: What a program does to have each of its kernels compiled in another way.
REPLACED = {
    "a class": """
class Mine(compiler._NVRTCProgram):
    def compile(self, options=(), log_stream=None):
        return super().compile((*options, "-lineinfo"), log_stream)
compiler._NVRTCProgram = Mine
""",
    "a method": """
original = compiler._NVRTCProgram.compile
compiler._NVRTCProgram.compile = lambda self, options=(), *more: original(self, (*options, "-lineinfo"), *more)
""",
    "a function of NVRTC's": """
from cupy_backends.cuda.libs import nvrtc
original = nvrtc.createProgram
nvrtc.createProgram = lambda source, *more: original(source.replace("1", "2"), *more)
""",
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", REPLACED)
def test_what_a_program_has_put_in_the_place_of_cupy_s_is_called(project: Project, what: str, when: str) -> None:
    call = "say(code=digest(compiled()), why=adapter.uncached())\n"
    plain = project.run(OURS + call)
    other = project.run((REPLACED[what] + OURS if when == "before" else OURS + REPLACED[what]) + call)
    assert other["code"] != plain["code"]
    assert other["why"] == {"replaced": 1}
    assert project.run(OURS + call) == plain
