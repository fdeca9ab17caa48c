"""What is wrong with a program, and what cannot be cached: both are cuda.core's errors, and ours."""

from __future__ import annotations

import pickle
from pathlib import Path

import jitcache
import pytest
from cuda.core import Program, ProgramOptions
from jitcache.adapters.cuda_core import compile_program
from workspace import NVRTC, Workspace

KERNEL = 'extern "C" __global__ void k(int *p) { *p = 1; }'
OPTIONS = ProgramOptions(arch="sm_80")


# cuda.core prints an exception when it deletes a Program that was never made.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def cache(tmp_path: Path) -> jitcache.Cache:
    return jitcache.Cache(tmp_path / "c")


def error_of(call) -> Exception:
    with pytest.raises(Exception) as e:  # which one is what is asked
        call()
    return e.value


BROKEN = {
    "syntax": ("garbage", (), {}),
    "#error": ('#error "not today"\n' + KERNEL, (), {}),
    "option": (KERNEL, (), {"arch": "sm_5"}),
    "expression": (KERNEL, ("nothing<int>",), {}),
    "header": ("#include <nowhere.h>\n" + KERNEL, (), {}),
}


@pytest.mark.parametrize("row", BROKEN.values(), ids=BROKEN)
def test_what_does_not_compile_is_an_error_of_cuda_core_s_and_of_ours(row, cache: jitcache.Cache) -> None:
    source, names, given = row
    options = ProgramOptions(**{"arch": "sm_80", **given})
    theirs = error_of(lambda: Program(source, "c++", options).compile("cubin", names))
    for _ in range(2):
        ours = error_of(lambda: compile_program(source, options=options, name_expressions=names, cache=cache))
        assert isinstance(ours, type(theirs))
        assert isinstance(ours, jitcache.CompileError)
        # What the compiler said is in both.
        said = str(theirs).split("compilation log:")[1].strip(" \n\0")
        assert ours.log.strip() == said
        assert said in str(ours)
    assert cache.count("cubin") == 0


def test_errors_pass_from_process_to_process() -> None:
    """As a pool of processes hands them over."""
    from cuda.core._utils.cuda_utils import NVRTCError
    from jitcache.adapters.cuda_core._errors import translated

    compiled = translated(jitcache.CompileError("what", "the log", ["nvrtc", "-x"]))
    refused = translated(jitcache.RefusedError("why", -21))
    for error, theirs in ((compiled, NVRTCError), (refused, ValueError)):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert isinstance(again, theirs)
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_without_translation_it_is_only_ours(workspace: Workspace) -> None:
    """The control."""
    code = """
        from cuda.core._utils.cuda_utils import NVRTCError
        try:
            compile_program("garbage", options=O)
        except Exception as e:
            print(isinstance(e, NVRTCError))
    """
    assert [workspace.run(code), workspace.run(code, WITHOUT="names of errors")] == ["True", "False"]


SIDE_EFFECTS = {
    "time": {"time": "time.csv"},
    "fdevice_time_trace": {"fdevice_time_trace": "trace.json"},
    "create_pch": {"create_pch": "k.pch"},
    "pch": {"pch": True},
    "pch_dir": {"pch": True, "pch_dir": "."},
}


@pytest.mark.parametrize("given", SIDE_EFFECTS.values(), ids=SIDE_EFFECTS)
def test_what_writes_files_is_refused_by_theirs_and_compiled_by_ours(
    given: dict[str, object], cache: jitcache.Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.core.utils import FileStreamProgramCache

    monkeypatch.chdir(tmp_path)
    options = ProgramOptions(**{"arch": "sm_80", **given})
    theirs = error_of(lambda: Program(KERNEL, "c++", options).compile("cubin", cache=FileStreamProgramCache("cuda")))
    assert type(theirs) is ValueError
    for store in (cache, cache, False):
        assert len(compile_program(KERNEL, options=options, cache=store).code) > 1000


def test_time_in_the_result_is_that_of_the_compile(cache: jitcache.Cache) -> None:
    """cuda.core's own gives out the time of the first compile for good."""
    source = '__device__ const char *when = __TIME__; extern "C" __global__ void k(const char **p) { *p = when; }'
    compile_program(source, options=OPTIONS, cache=cache)
    assert cache.stats()["total"]["puts"] == 0


def test_precompiled_header_is_right_and_compiled_each_time(workspace: Workspace) -> None:
    """NVRTC writes the names of all its macros into one, `__DATE__` too: nobody can say that the time is not in it."""
    code = """
        o = ProgramOptions(arch="sm_80", use_pch="x.pch")
        try:
            make_program_cache_key(code="", code_type="c++", options=o, target_type="cubin")
        except ValueError as e:
            print("use_pch" in str(e))
        S = '#include "x.h"\\n#pragma nv_hdrstop\\n' + K
        print(compile_program(S, options=o).code.hex())
    """
    make = """
        S = '#include "x.h"\\n#pragma nv_hdrstop\\n' + K
        Program(S, "c++", ProgramOptions(arch="sm_80", create_pch="x.pch")).compile("cubin")
    """
    answers = []
    for value in (1, None, 2):
        if value is not None:
            workspace.write("x.h", f"#define VALUE {value}\n")
            workspace.run(make, COUNTED="", JITCACHE_NVRTC=str(NVRTC))  # what counts compiles makes none
            workspace.compiled()
        answers.append((*workspace.run(code, COUNTED="").split(), workspace.compiled()))
    assert [(refused, compiles) for refused, _, compiles in answers] == [("True", 1)] * 3
    first, second, third = [code for _, code, _ in answers]
    assert first == second != third


WRONG = {
    "code type": {"code_type": "cxx"},
    "code type of another type": {"code_type": 5},
    "target": {"target": "foo"},
    "bytes": {"source": b"bytes"},
    "number": {"source": 5},
    "extra sources": {"options": ProgramOptions(arch="sm_80", extra_sources=[("a", "b")])},
}


@pytest.mark.parametrize("given", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_cuda_core_s_error(given: dict[str, object], cache: jitcache.Cache) -> None:
    job = {"source": KERNEL, "code_type": "c++", "options": OPTIONS, "target": "cubin", **given}
    theirs = error_of(lambda: Program(job["source"], job["code_type"], job["options"]).compile(job["target"]))
    ours = error_of(lambda: compile_program(**job, cache=cache))
    assert type(ours) is type(theirs)
    assert str(ours) == str(theirs)


def test_words_may_be_in_capitals(cache: jitcache.Cache) -> None:
    code = compile_program(KERNEL, "C++", OPTIONS, "CUBIN", cache=cache).code
    again = compile_program(KERNEL, "c++", OPTIONS, "cubin", cache=cache).code
    assert code == again
    assert cache.count("cubin") == 1


def test_source_with_a_nul_is_refused(cache: jitcache.Cache) -> None:
    """cuda.core compiles what is before it, and keys the whole."""
    with pytest.raises(jitcache.Error, match="NUL"):
        compile_program(KERNEL + "\0 garbage", options=OPTIONS, cache=cache)
