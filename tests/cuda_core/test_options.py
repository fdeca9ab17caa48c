"""What compile_program makes of each option of cuda.core's is what cuda.core makes of it."""

from __future__ import annotations

import dataclasses

import jitcache
import pytest
from cuda.core import Program, ProgramOptions
from jitcache.adapters.cuda_core import compile_program
from workspace import BUNDLED

SOURCE = """
template <class T> __device__ T twice(T x) { return x + x; }
#ifndef SCALE
#define SCALE 2
#endif
__device__ unsigned only(unsigned x) { return x * SCALE; }
extern "C" __global__ void k(float *restrict_, unsigned *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        restrict_[i] = sqrtf(twice(restrict_[i])) / 3.1f + 1e-42f * restrict_[i];
    q[i] = only(q[i]);
}
"""

# One row at least for each option of NVRTC's. What cannot be cached, or needs files, is below.
OPTIONS = [
    {}, {"name": "k.cu"}, {"name": ""}, {"name": None}, {"arch": "sm_90"}, {"arch": "sm_90a"},
    {"relocatable_device_code": True}, {"extensible_whole_program": True}, {"debug": True, "name": "k.cu"}, {"lineinfo": True, "name": "k.cu"},
    {"debug": True, "lineinfo": True, "name": "k.cu"}, {"debug": True, "device_code_optimize": True, "name": "k.cu"},
    {"ptxas_options": "-O1"}, {"ptxas_options": ["-v", "-O2"]}, {"max_register_count": 16},
    {"ftz": True}, {"ftz": False}, {"prec_sqrt": False}, {"prec_div": False}, {"fma": False}, {"use_fast_math": True},
    {"use_fast_math": True, "ftz": False}, {"extra_device_vectorization": True}, {"gen_opt_lto": False},
    {"define_macro": "SCALE"}, {"define_macro": ("SCALE", "7")}, {"define_macro": ["A", ("SCALE", "3")]},
    {"define_macro": ("SCALE", "7"), "undefine_macro": "SCALE"}, {"undefine_macro": ["A", "B"]},
    {"no_source_include": True}, {"std": "c++11"}, {"std": "c++20"}, {"builtin_move_forward": False},
    {"builtin_initializer_list": False}, {"disable_warnings": True}, {"restrict": True},
    {"device_as_default_execution_space": True}, {"device_int128": True}, {"device_float128": True, "arch": "sm_100"},
    {"optimization_info": "inline"}, {"no_display_error_number": True}, {"diag_error": 177}, {"diag_suppress": [177, 550]},
    {"diag_warn": 177}, {"brief_diagnostics": True}, {"split_compile": 2}, {"minimal": True}, {"no_cache": True},
    {"frandom_seed": "17"}, {"ofast_compile": "min"}, {"ofast_compile": "max"}, {"pch_verbose": True},
    {"pch_messages": False}, {"instantiate_templates_in_pch": True}, {"use_libdevice": True},
    {"fdevice_syntax_only": True},
]  # fmt: skip

# Their tests are elsewhere: in test_program.py and test_refused.py.
ELSEWHERE = {
    "include_path", "use_bundled_headers", "pre_include", "time", "fdevice_time_trace", "pch", "create_pch", "use_pch",
    "pch_dir", "extra_sources", "link_time_optimization", "numba_debug",
}  # fmt: skip


if not BUNDLED:  # nor can it be None
    OPTIONS.remove({"name": None})


def name_of(options: dict[str, object]) -> str:
    return ",".join(f"{k}={v}" for k, v in options.items()) or "none"


def parts(code) -> tuple[object, ...]:
    """What is in an ObjectCode. To print one as it is takes a driver."""
    return code.code, code.name, code.code_type, code.symbol_mapping


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> jitcache.Cache:
    return jitcache.Cache(tmp_path_factory.mktemp("cache"))


def test_each_option_has_a_row() -> None:
    rows = {name for row in OPTIONS for name in row}
    fields = {f.name for f in dataclasses.fields(ProgramOptions)}
    assert fields - rows == ELSEWHERE & fields


@pytest.mark.parametrize("given", OPTIONS, ids=name_of)
def test_code_is_that_of_cuda_core(given: dict[str, object], cache: jitcache.Cache) -> None:
    options = ProgramOptions(**{"arch": "sm_80", **given})
    theirs = parts(Program(SOURCE, "c++", options).compile("cubin"))
    for _ in range(2):
        ours = parts(compile_program(SOURCE, options=options, cache=cache))
        assert ours == theirs


@pytest.mark.skipif(not BUNDLED, reason="this cuda.core names no file either")
@pytest.mark.parametrize("given", [{"debug": True}, {"lineinfo": True}, {"lineinfo": True, "name": None}], ids=name_of)
def test_debug_information_of_a_source_without_a_name_names_no_file(
    given: dict[str, object], cache: jitcache.Cache
) -> None:
    """cuda.core writes such a source to a file of a random name, which it removes: no two of its results are equal."""
    options = ProgramOptions(**{"arch": "sm_80", **given})
    theirs = {parts(Program(SOURCE, "c++", options).compile("cubin"))[0] for _ in range(2)}
    ours = {parts(compile_program(SOURCE, options=options, cache=cache))[0] for _ in range(2)}
    assert (len(theirs), len(ours)) == (2, 1)
    assert b"_k_" in theirs.pop()
    assert b"_k_" not in ours.pop()


def test_options_that_change_the_code_are_other_keys(cache: jitcache.Cache) -> None:
    """As many entries as there are results, at least: no two options share one that is not theirs."""
    codes = set()
    for given in OPTIONS:
        options = ProgramOptions(**{"arch": "sm_80", **given})
        codes.add(Program(SOURCE, "c++", options).compile("cubin").code)
        compile_program(SOURCE, options=options, cache=cache)
    keys = {e["key"] for e in cache.entries("cubin")}
    assert len(codes) > 15
    assert len(keys) >= len(codes)


def test_lto_code_is_that_of_cuda_core(cache: jitcache.Cache) -> None:
    options = ProgramOptions(arch="sm_80", link_time_optimization=True)
    theirs = parts(Program(SOURCE, "c++", options).compile("ltoir"))
    assert parts(compile_program(SOURCE, options=options, target="ltoir", cache=cache)) == theirs


def test_lto_code_needs_no_option_of_its_own(cache: jitcache.Cache) -> None:
    """Without ``link_time_optimization`` cuda.core's LTO-IR is empty."""
    options = ProgramOptions(arch="sm_80")
    sizes = [
        len(parts(code)[0])
        for code in (
            Program(SOURCE, "c++", options).compile("ltoir"),
            compile_program(SOURCE, options=options, target="ltoir", cache=cache),
        )
    ]
    assert sizes[0] == 0
    assert sizes[1] > 1000


@pytest.mark.parametrize("given", [{"arch": "compute_80"}, {"link_time_optimization": True}], ids=name_of)
def test_options_without_code_are_an_error(given: dict[str, object], cache: jitcache.Cache) -> None:
    """cuda.core returns an empty cubin, which the driver refuses later."""
    options = ProgramOptions(**{"arch": "sm_80", **given})
    theirs = parts(Program(SOURCE, "c++", options).compile("cubin"))
    assert theirs[0] == b""
    with pytest.raises(jitcache.CompileError, match="no cubin"):
        compile_program(SOURCE, options=options, cache=cache)


def test_option_that_this_nvrtc_does_not_know_is_the_same_error(cache: jitcache.Cache) -> None:
    options = ProgramOptions(arch="sm_80", numba_debug=True)
    try:
        theirs = parts(Program(SOURCE, "c++", options).compile("cubin"))
    except Exception as e:
        with pytest.raises(type(e)):
            compile_program(SOURCE, options=options, cache=cache)
    else:
        assert parts(compile_program(SOURCE, options=options, cache=cache)) == theirs


def test_options_may_be_a_dict(cache: jitcache.Cache) -> None:
    theirs = parts(Program(SOURCE, "c++", {"arch": "sm_80", "ftz": True}).compile("cubin"))
    assert parts(compile_program(SOURCE, options={"arch": "sm_80", "ftz": True}, cache=cache)) == theirs


@pytest.mark.parametrize("options", [5, "sm_80", [("arch", "sm_80")]])
def test_other_options_are_cuda_core_s_error(options: object, cache: jitcache.Cache) -> None:
    with pytest.raises(TypeError) as theirs:
        Program(SOURCE, "c++", options)
    with pytest.raises(TypeError) as ours:
        compile_program(SOURCE, options=options, cache=cache)
    assert str(ours.value) == str(theirs.value)
