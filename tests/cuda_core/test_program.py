"""compile_program: what cuda.core refuses to cache, or would cache wrongly."""

from __future__ import annotations

import pytest
from workspace import NVRTC, Workspace

# Each compiles through FileStreamProgramCache, our ProgramCache, compile_program, or without a cache.
WAYS = {
    "cuda.core": "Program(S, 'c++', o).compile('cubin', cache=FileStreamProgramCache(os.environ['CACHE'])).code",
    "drop-in": "Program(S, 'c++', o).compile('cubin', cache=ProgramCache(os.environ['CACHE'])).code",
    "compile_program": "compile_program(S, options=o, cache=ProgramCache(os.environ['CACHE'])).code",
    "fresh": "Program(S, 'c++', o).compile('cubin').code",
}

KERNEL = 'extern "C" __global__ void k(int *p) { *p = VALUE; }'


def answer(workspace: Workspace, way: str, source: str, options: str = "", **env: str) -> str:
    """The code of a source, in a process of its own."""
    code = f"S = {source!r}\no = ProgramOptions(arch='sm_80', {options})\nprint({WAYS[way]}.hex())"
    return workspace.run(code, **{"CACHE": str(workspace.cache / way), **env})


def is_right(workspace: Workspace, way: str, change, source: str, options: str = "") -> bool:
    """Whether, after a change, the answer is that of a fresh compile."""
    before = answer(workspace, way, source, options)
    change()
    fresh = answer(workspace, "fresh", source, options)
    assert fresh != before  # the change is one
    return answer(workspace, way, source, options) == fresh


STALE = [("cuda.core", False), ("drop-in", False), ("compile_program", True)]


@pytest.mark.parametrize(("way", "right"), STALE, ids=[w for w, _ in STALE])
def test_header_beside_the_working_directory_that_changed(workspace: Workspace, way: str, right: bool) -> None:
    """cuda.core's own cache gives out stale code, and so does whatever is behind ``cache=``; compile_program does not."""
    workspace.write("x.h", "#define VALUE 1\n")
    assert (
        is_right(workspace, way, lambda: workspace.write("x.h", "#define VALUE 2\n"), '#include "x.h"\n' + KERNEL)
        is right
    )


@pytest.mark.parametrize(("way", "right"), STALE, ids=[w for w, _ in STALE])
def test_another_working_directory_with_another_header(workspace: Workspace, way: str, right: bool) -> None:
    workspace.write("x.h", "#define VALUE 1\n")
    workspace.write("elsewhere/x.h", "#define VALUE 2\n")
    assert (
        is_right(
            workspace,
            way,
            lambda: setattr(workspace, "folder", workspace.folder / "elsewhere"),
            '#include "x.h"\n' + KERNEL,
        )
        is right
    )


@pytest.mark.parametrize(("way", "right"), STALE, ids=[w for w, _ in STALE])
def test_header_that_appears_where_there_was_none(workspace: Workspace, way: str, right: bool) -> None:
    source = '#if __has_include("x.h")\n#include "x.h"\n#else\n#define VALUE 1\n#endif\n' + KERNEL
    assert is_right(workspace, way, lambda: workspace.write("x.h", "#define VALUE 2\n"), source) is right


REFUSED = {
    "include path": ("#include <x.h>\n", "include_path='inc'", "inc/x.h"),
    "pre-include": ("", "pre_include='inc/x.h'", "inc/x.h"),
    "name with a folder": ('#include "x.h"\n', "name='inc/k.cu'", "inc/x.h"),
    "header of a header": ("#include <y.h>\n", "include_path=['inc']", "inc/x.h"),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_what_cuda_core_refuses_hits_and_notices_a_change(workspace: Workspace, row: tuple[str, str, str]) -> None:
    begin, options, header = row
    workspace.write("inc/y.h", '#include "x.h"\n')
    workspace.write(header, "#define VALUE 1\n")
    for way in ("cuda.core", "drop-in"):
        with pytest.raises(AssertionError, match="ValueError"):
            answer(workspace, way, begin + KERNEL, options)
    first = answer(workspace, "compile_program", begin + KERNEL, options)
    workspace.compiled()
    assert answer(workspace, "compile_program", begin + KERNEL, options) == first
    assert workspace.compiled() == 0
    assert is_right(
        workspace, "compile_program", lambda: workspace.write(header, "#define VALUE 2\n"), begin + KERNEL, options
    )


def test_path_object_is_an_include_path(workspace: Workspace) -> None:
    """cuda.core makes no option of one, so the header is not found, or another one is."""
    workspace.write("inc/x.h", "#define VALUE 1\n")
    options = "include_path=__import__('pathlib').Path('inc')"
    with pytest.raises(AssertionError, match="could not open source file"):
        answer(workspace, "fresh", "#include <x.h>\n" + KERNEL, options)
    assert answer(workspace, "compile_program", "#include <x.h>\n" + KERNEL, options)
    with pytest.raises(AssertionError, match="could not open source file"):
        answer(workspace, "compile_program", "#include <x.h>\n" + KERNEL, options, WITHOUT="paths")


SYMBOLS = """
names = ["axpy<int>", b"axpy<float>"]
code = compile_program(T, options=O, name_expressions=names)
fresh = Program(T, "c++", O).compile("cubin", names)
print(code.symbol_mapping == fresh.symbol_mapping, len(code.symbol_mapping), code.code == fresh.code)
"""


def test_name_expressions_are_restored_on_a_hit(workspace: Workspace) -> None:
    for compiles in (2, 1):
        assert workspace.run(SYMBOLS) == "True 2 True"
        assert workspace.compiled() == compiles
    assert workspace.run(SYMBOLS, WITHOUT="symbols") == "False 2 True"


@pytest.mark.parametrize("names", ["'axpy<int>'", "b'axpy<int>'", "[1]", "5"])
def test_other_name_expressions_are_an_error(workspace: Workspace, names: str) -> None:
    """Of one text cuda.core takes each letter for an expression."""
    code = f"try: compile_program(T, options=O, name_expressions={names})\nexcept TypeError as e: print('TypeError')"
    assert workspace.run(code) == "TypeError"
    assert workspace.compiled() == 0


def test_name_expressions_may_come_from_a_generator(workspace: Workspace) -> None:
    """cuda.core returns no mapping then."""
    code = """
        names = lambda: (n for n in ["axpy<int>"])
        print(len(Program(T, "c++", O).compile("cubin", names()).symbol_mapping))
        for _ in range(2):
            print(len(compile_program(T, options=O, name_expressions=names()).symbol_mapping))
    """
    assert workspace.run(code).split() == ["0", "1", "1"]


LOG = """
import io
log = io.StringIO()
S = "#warning mind the gap\\n" + T
code = {compile}
print(log.getvalue().count("mind the gap"))
"""
OURS = "compile_program(S, options=O, logs=log)"
THEIRS = "Program(S, 'c++', O).compile('cubin', logs=log, cache=FileStreamProgramCache(os.environ['CACHE'] + '-cuda'))"


def test_log_is_written_on_a_hit_too(workspace: Workspace) -> None:
    assert [workspace.run(LOG.format(compile=OURS)) for _ in range(2)] == ["2", "2"]
    assert [workspace.run(LOG.format(compile=THEIRS)) for _ in range(2)] == ["2", "0"]
    assert workspace.run(LOG.format(compile=OURS), WITHOUT="log") == "0"


MANY = """
print("ready", flush=True)
sys.stdin.readline()
print(compile_program(T, options=O, name_expressions=["axpy<int>"]).code.hex())
"""


def at_once(workspace: Workspace, **env: str) -> set[str]:
    processes = [workspace.start(MANY, STUBNVRTC_SLEEP_MS="1500", **env) for _ in range(4)]
    for p in processes:
        assert p.stdout.readline() == "ready\n"
    for p in processes:
        p.stdin.write("go\n")
        p.stdin.flush()
    return {workspace.end(p) for p in processes}


def test_one_of_many_processes_compiles(workspace: Workspace) -> None:
    assert len(at_once(workspace)) == 1
    assert workspace.compiled() == 1


def test_without_the_lease_each_compiles(workspace: Workspace) -> None:
    assert len(at_once(workspace, WITHOUT="lease")) == 1
    assert workspace.compiled() == 4


LOADED = """
loaded = lambda: any("libnvrtc.so" in line for line in open("/proc/self/maps"))
before = loaded()
{compile}
print(before, loaded())
"""


def test_process_that_compiles_or_hits_loads_no_nvrtc(workspace: Workspace) -> None:
    """Which cuda.core's own does, to make a Program: ours compiles in a process apart."""
    env = {"COUNTED": "", "JITCACHE_NVRTC": str(NVRTC)}
    ours = LOADED.format(compile="compile_program(T, options=O, name_expressions=['axpy<int>'], target='cubin')")
    theirs = LOADED.format(compile=f"S = T; o = O; {WAYS['cuda.core']}")
    assert [workspace.run(ours, **env) for _ in range(2)] == ["False False"] * 2
    assert [workspace.run(theirs, **env) for _ in range(2)] == ["False True", "False True"]


def test_another_build_of_one_version_is_another_compiler(workspace: Workspace, tmp_path, counted) -> None:
    """To cuda.core's own, 13.5 is 13.5."""
    import fakes

    other = fakes.build_counted(tmp_path / "other", NVRTC, "-O0", "-g")
    log = fakes.Witnesses(fakes.witnesses(other))
    for way, compiles in (("cuda.core", 0), ("drop-in", 0), ("compile_program", 1)):
        answer(workspace, way, KERNEL, "define_macro=('VALUE', '1')")
        answer(workspace, way, KERNEL, "define_macro=('VALUE', '1')", COUNTED=str(other), JITCACHE_NVRTC=str(other))
        assert log.compiles == compiles, way


def test_nvrtc_is_that_of_the_bindings_version(workspace: Workspace, tmp_path) -> None:
    """Of two that are installed jitcache takes the newest, and cuda.core the one that its bindings are for."""
    old, new = tmp_path / "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", tmp_path / "site/nvidia/cu13/lib/libnvrtc.so.13"
    for path in (old, new):
        path.parent.mkdir(parents=True)
        path.touch()
    code = f"""
        import cuda.bindings
        from jitcache.adapters.cuda_core import _program as program
        sys.path.insert(0, {str(tmp_path / "site")!r})
        found = []
        for version in ("12.9.10", "13.5.0", "99.0"):
            cuda.bindings.__version__ = version
            program._found = None
            found.append(program._nvrtc())
        print(*found, sep="\\n")
    """
    assert workspace.run(code, JITCACHE_NVRTC="", COUNTED="").split("\n") == [str(old), str(new)]
    assert workspace.run(code, JITCACHE_NVRTC=str(NVRTC)) == ""
    assert workspace.run(code, JITCACHE_NVRTC="", WITHOUT="major") == ""


def test_nvrtc_that_is_loaded_is_taken(workspace: Workspace, tmp_path) -> None:
    """As cuda.core takes it."""
    import fakes

    stub = fakes.build(tmp_path / "stub" / "libnvrtc.so.13", fakes.COMPILER)
    code = "from jitcache.adapters.cuda_core import _program as program\nprint(program._nvrtc())"
    assert workspace.run(code, JITCACHE_NVRTC="", COUNTED=str(stub)) == str(stub)
    assert workspace.run(code, JITCACHE_NVRTC="", COUNTED="") == str(NVRTC)


CACHES = """
import jitcache
def compiled(cache):
    return compile_program(K, options=ProgramOptions(arch="sm_80", define_macro=("VALUE", "1")), cache=cache).code
codes = {compiled(c) for c in (None, jitcache.default_cache(), False, False)}
other = ProgramCache(os.environ["CACHE"] + "-other")
codes |= {compiled(other), compiled(other.cache)}
print(len(codes), len(other), other.cache.count("cubin"))
for wrong in (True, 5, "path", FileStreamProgramCache(os.environ["CACHE"] + "-cuda")):
    try:
        compiled(wrong)
    except TypeError as e:
        print("TypeError")
"""


def test_cache_is_one_of_ours_the_default_one_or_none(workspace: Workspace) -> None:
    out = workspace.run(CACHES).split()
    assert out == ["1", "0", "1", *["TypeError"] * 4]
    assert workspace.compiled() == 4  # once for the default one, twice without, once for the other


def test_without_the_library_cuda_core_compiles(workspace: Workspace) -> None:
    assert workspace.run(SYMBOLS, JITCACHE_LIBRARY="/nonexistent") == "True 2 True"


@pytest.mark.parametrize("mode", ["0", "refresh", "readonly"])
def test_environment_turns_the_cache_off(workspace: Workspace, mode: str) -> None:
    for _ in range(2):
        assert workspace.run(SYMBOLS, JITCACHE=mode) == "True 2 True"
    assert workspace.compiled() == 4
