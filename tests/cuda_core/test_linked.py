"""Programs of PTX and of NVVM IR, with the real nvJitLink and libNVVM."""

from __future__ import annotations

import pytest
from workspace import Workspace

PTX = '''
S = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 7; ret; }
"""
'''
NVVM = '''
S = """target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @k() { ret void }
!nvvm.annotations = !{!0}
!0 = !{void ()* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""
'''
KINDS = {"ptx": (PTX, "ptx", "cubin"), "nvvm": (NVVM, "nvvm", "ptx")}
ASK = "{source}\nprint(compile_program(S, '{code_type}', {options}, '{target}').code.hex())"
FRESH = "{source}\nprint(bytes(Program(S, '{code_type}', {options}).compile('{target}').code).hex())"


class Linked:
    """Programs of one kind."""

    def __init__(self, workspace: Workspace, kind: str) -> None:
        source, code_type, target = KINDS[kind]
        self._words = {"source": source, "code_type": code_type, "target": target}
        self._workspace = workspace
        self._log = workspace.folder / "linked.log"

    def fill(self, form: str, options: str = "O") -> str:
        return form.format(**self._words, options=options)

    def ask(self, options: str = "O", **env: str) -> str:
        return self._workspace.run(self.fill(ASK, options), LINKED=str(self._log), **env)

    def fresh(self, options: str = "O") -> str:
        return self._workspace.run(self.fill(FRESH, options))

    def compiles(self) -> int:
        """Take how often cuda.core has compiled for us since the last time."""
        n = len(self._log.read_text().splitlines()) if self._log.exists() else 0
        self._log.unlink(missing_ok=True)
        return n

    def at_once(self, **env: str) -> set[str]:
        code = "print('ready', flush=True); sys.stdin.readline()\n" + self.fill(ASK)
        processes = [self._workspace.start(code, LINKED=str(self._log), LINKED_SLEEP="1", **env) for _ in range(3)]
        for p in processes:
            assert p.stdout.readline() == "ready\n"
        for p in processes:
            p.stdin.write("go\n")
            p.stdin.flush()
        return {self._workspace.end(p) for p in processes}


@pytest.fixture(params=KINDS)
def linked(request: pytest.FixtureRequest, workspace: Workspace) -> Linked:
    return Linked(workspace, request.param)


def test_code_is_that_of_cuda_core_and_compiled_once(linked: Linked) -> None:
    fresh = linked.fresh()
    assert [linked.ask() for _ in range(3)] == [fresh] * 3
    assert linked.compiles() == 1


@pytest.mark.parametrize(
    "options",
    [
        "ProgramOptions(arch='sm_90')",
        "ProgramOptions(arch='sm_80', debug=True)",
        "ProgramOptions(arch='sm_80', ftz=True)",
        "ProgramOptions(arch='sm_80', name='other')",
    ],
)
def test_options_are_in_the_key(linked: Linked, options: str) -> None:
    linked.ask()
    assert linked.ask(options) == linked.fresh(options)
    assert linked.compiles() == 2


NAMED = ("'--options-file=o'", "['-optf', 'o']", "['-v', '--options-file=o']")


@pytest.mark.parametrize("named", NAMED)
def test_file_that_an_option_names_is_read_each_time(workspace: Workspace, named: str) -> None:
    linked = Linked(workspace, "ptx")
    options = f"ProgramOptions(arch='sm_80', ptxas_options={named})"
    found = []
    for text in ("-O0", "-O3"):
        workspace.write("o", text)
        found.append(linked.ask(options))
    assert found[1] == linked.fresh(options) != found[0]


def test_options_that_name_no_file_are_cached(workspace: Workspace) -> None:
    linked = Linked(workspace, "ptx")
    options = "ProgramOptions(arch='sm_80', ptxas_options=['-O1', '--maxrregcount=32', '--def-load-cache=ca', '-v'])"
    assert linked.ask(options) == linked.ask(options) == linked.fresh(options)
    assert linked.compiles() == 1


def test_without_looking_at_options_a_file_that_changed_is_not_seen(workspace: Workspace) -> None:
    linked = Linked(workspace, "ptx")
    options = f"ProgramOptions(arch='sm_80', ptxas_options={NAMED[0]})"
    workspace.write("o", "-O0")
    found = linked.ask(options, WITHOUT="options")
    workspace.write("o", "-O3")
    assert linked.ask(options, WITHOUT="options") == found != linked.fresh(options)


def test_one_of_many_processes_compiles(linked: Linked) -> None:
    assert len(linked.at_once()) == 1
    assert linked.compiles() == 1


def test_without_the_lease_each_compiles(linked: Linked) -> None:
    assert len(linked.at_once(WITHOUT="linked lease")) == 1
    assert linked.compiles() == 3


@pytest.mark.parametrize(
    ("name", "without", "compiles"),
    [
        ("LLVM_OVERRIDE_PRODUCER", "", 2), ("LLVM_OVERRIDE_PRODUCER", "variables", 1),
        ("LIBNVVM_NVVM_VERSION", "", 2), ("SLURM_JOB_ID", "", 1), ("HOME", "", 1),
    ],
)  # fmt: skip
def test_variables_that_the_library_names_count(linked: Linked, name: str, without: str, compiles: int) -> None:
    linked.ask(WITHOUT=without)
    linked.ask(WITHOUT=without, **{name: "3"})
    assert linked.compiles() == compiles


# Another library, by its content, that says the same version.
OTHER = """
from jitcache.adapters.cuda_core import _linked as linked_module
import types
load = linked_module.load_nvidia_dynamic_lib
linked_module.load_nvidia_dynamic_lib = lambda name: types.SimpleNamespace(abs_path=os.environ["OTHER"])
"""


@pytest.mark.parametrize(("without", "compiles"), [("", 2), ("library", 1)])
def test_another_build_of_the_library_is_another_compiler(
    linked: Linked, workspace: Workspace, without: str, compiles: int
) -> None:
    linked.ask(WITHOUT=without)
    other = workspace.write("libother.so", "another library")
    workspace.run(OTHER + linked.fill(ASK), LINKED=str(linked._log), OTHER=str(other), WITHOUT=without)
    assert linked.compiles() == compiles


@pytest.mark.parametrize(("without", "compiles"), [("", 2), ("started", 1)])
def test_library_that_was_changed_since_the_process_started_is_no_key(
    linked: Linked, workspace: Workspace, without: str, compiles: int
) -> None:
    """The process may have loaded another one before: here all files are younger than it."""
    fresh = linked.fresh()
    began = "from jitcache import _module_files; _module_files._START = 0.0\n"
    for _ in range(2):
        assert workspace.run(began + linked.fill(ASK), LINKED=str(linked._log), WITHOUT=without) == fresh
    assert linked.compiles() == compiles


def test_library_that_cannot_be_told_is_no_key(linked: Linked, workspace: Workspace) -> None:
    fresh = linked.fresh()
    for other in ("", str(workspace.folder / "gone.so")):
        assert workspace.run(OTHER + linked.fill(ASK), LINKED=str(linked._log), OTHER=other) == fresh
    assert linked.compiles() == 2


def test_what_does_not_compile_is_cuda_core_s_error_and_not_stored(linked: Linked, workspace: Workspace) -> None:
    code = """
        S = "garbage"
        for compile in (lambda: Program(S, {t!r}, O).compile({to!r}), lambda: compile_program(S, {t!r}, O, {to!r})):
            try:
                compile()
            except Exception as e:
                print(type(e).__name__)
        import jitcache
        print(jitcache.default_cache().count('cuda.core'))
    """
    words = linked._words
    theirs, ours, stored = workspace.run(code.format(t=words["code_type"], to=words["target"])).split()
    assert ours == theirs
    assert stored == "0"


LIBDEVICE = """
from jitcache.adapters.cuda_core import _linked as linked_module
linked_module.find_bitcode_lib = lambda name: os.environ["BITCODE"]
o = ProgramOptions(arch="sm_80", use_libdevice=True)
"""


@pytest.mark.parametrize(("without", "compiles"), [("", 2), ("libdevice", 1)])
def test_libdevice_is_cached_and_counts_by_its_content(workspace: Workspace, without: str, compiles: int) -> None:
    """cuda.core refuses to cache what uses it."""
    linked = Linked(workspace, "nvvm")
    with pytest.raises(AssertionError, match="ValueError"):
        workspace.run(
            NVVM
            + "Program(S, 'nvvm', ProgramOptions(arch='sm_80', use_libdevice=True)).compile('ptx', cache=ProgramCache())"
        )
    fresh = linked.fresh("ProgramOptions(arch='sm_80', use_libdevice=True)")
    for text in ("one", "one", "two"):
        bitcode = workspace.write("libdevice.bc", text)
        out = workspace.run(
            LIBDEVICE + linked.fill(ASK, "o"), LINKED=str(linked._log), BITCODE=str(bitcode), WITHOUT=without
        )
        assert out == fresh
    assert linked.compiles() == compiles


def test_real_libdevice_hits(workspace: Workspace) -> None:
    linked = Linked(workspace, "nvvm")
    options = "ProgramOptions(arch='sm_80', use_libdevice=True)"
    assert linked.ask(options) == linked.ask(options) == linked.fresh(options)
    assert linked.compiles() == 1


def test_log_is_written_on_a_hit_too(workspace: Workspace) -> None:
    code = (
        PTX
        + """
import io
logs = [io.StringIO(), io.StringIO()]
o = ProgramOptions(arch="sm_80", ptxas_options="-v")
from jitcache.adapters.cuda_core import _job as job
class Talks(job.Program):
    def compile(self, target, names, logs):
        logs.write("a word of the linker's")
        return super().compile(target, names, logs)
job.Program = Talks
for log in logs:
    compile_program(S, "ptx", o, logs=log)
compile_program(S, "ptx", o)
print(logs[0].getvalue() == logs[1].getvalue() != "")
"""
    )
    assert workspace.run(code) == "True"


@pytest.mark.parametrize(("kind", "target"), [("ptx", "ltoir"), ("nvvm", "cubin")])
def test_target_that_cannot_be_made_is_an_error_of_the_same_type(workspace: Workspace, kind: str, target: str) -> None:
    code = (
        KINDS[kind][0]
        + f"""
for compile in (lambda: Program(S, {kind!r}, O).compile({target!r}), lambda: compile_program(S, {kind!r}, O, {target!r})):
    try:
        compile()
    except Exception as e:
        print(type(e).__name__)
"""
    )
    assert workspace.run(code).split() == ["ValueError"] * 2
