"""What cannot be compiled or cached says so, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import jitcache
import pytest
from conftest import Compiler
from jitcache import cuda
from sources import BROKEN, KERNEL, OPTIONS, TEMPLATE, kernel


def test_broken_source_raises_its_log_and_stores_nothing(compiler: Compiler, cache: jitcache.Cache) -> None:
    for n in (1, 2):
        with pytest.raises(jitcache.CompileError, match="not today") as caught:
            cuda.compile(BROKEN, name="broken.cu", options=OPTIONS, cache=cache)
        assert "broken.cu(1)" in caught.value.log
        assert caught.value.status == -20
        assert compiler.compiles == n
    assert cache.get(cuda.key(BROKEN, name="broken.cu", options=OPTIONS, cache=cache)) is None


def test_mended_source_compiles(compiler: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    header = tmp_path / "value.h"
    header.write_text("#error not today\n")

    def compile() -> cuda.Code:
        return cuda.compile("#include <value.h>\n" + KERNEL, options=[*OPTIONS, f"-I{tmp_path}"], cache=cache)

    with pytest.raises(jitcache.CompileError, match="not today"):
        compile()
    header.write_text("#define VALUE 1\n")
    assert [compile().hit for _ in range(2)] == [False, True]


def test_missing_header_compiles_once_it_is_there(compiler: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    source = "#include <value.h>\n" + KERNEL
    with pytest.raises(jitcache.CompileError, match=r"value\.h"):
        cuda.compile(source, options=[*OPTIONS, f"-I{tmp_path}"], cache=cache)
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    assert not cuda.compile(source, options=[*OPTIONS, f"-I{tmp_path}"], cache=cache).hit


def test_name_expression_that_fits_nothing(compiler: Compiler, cache: jitcache.Cache) -> None:
    with pytest.raises(jitcache.CompileError):
        cuda.compile(TEMPLATE, options=OPTIONS, name_expressions=["no_such_kernel<int>"], cache=cache)
    assert not cuda.compile(TEMPLATE, options=OPTIONS, name_expressions=["axpy<int>"], cache=cache).hit


def test_log_of_one_failure_is_not_that_of_the_next(stub: Compiler, cache: jitcache.Cache) -> None:
    with pytest.raises(jitcache.CompileError, match="first"):
        cuda.compile("#error first\n", options=OPTIONS, cache=cache)
    with pytest.raises(jitcache.CompileError, match="second") as caught:
        cuda.compile("#error second\n", options=OPTIONS, cache=cache)
    assert "first" not in caught.value.log


def test_option_that_nvrtc_refuses(compiler: Compiler, cache: jitcache.Cache) -> None:
    with pytest.raises(jitcache.CompileError):
        cuda.compile(kernel(), options=[*OPTIONS, "--no-such-option"], cache=cache)


def test_target_that_the_options_exclude(compiler: Compiler, cache: jitcache.Cache) -> None:
    """There is no cubin for a virtual architecture."""
    with pytest.raises(jitcache.CompileError, match="cubin"):
        cuda.compile(kernel(), options=["-arch=compute_80"], cache=cache)


@pytest.mark.parametrize("call", ["nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcGetCUBINSize", "nvrtcGetCUBIN"])
def test_failure_of_nvrtc_itself(
    stub: Compiler, cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setenv("STUBNVRTC_FAIL", f"{call}=11:1")
    with pytest.raises(jitcache.CompileError, match="NVRTC_ERROR_INTERNAL_ERROR"):
        cuda.compile(kernel(), options=OPTIONS, cache=cache)
    assert not cuda.compile(kernel(), options=OPTIONS, cache=cache).hit
    made, destroyed = (stub.log.count(f"nvrtc{w}Program") for w in ("Create", "Destroy"))
    assert destroyed == made - (call == "nvrtcCreateProgram")


# Options with effects that a hit would not have, or that read what cannot be known.
REFUSED = [
    ["--pch"],
    ["-pch"],
    ["--create-pch=kernel.pch"],
    ["--pch-dir=/tmp"],
    ["-Xptxas", "-o,out.cubin"],
    ["--ptxas-options=--options-file,flags.txt"],
    ["--a-new-include-option=/usr/include"],
]


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_refused_option_is_named_and_works_without_a_cache(
    stub: Compiler, cache: jitcache.Cache, options: list[str]
) -> None:
    for what in (cuda.compile, cuda.key):
        with pytest.raises(jitcache.RefusedError) as caught:
            what(kernel(), options=[*OPTIONS, *options], cache=cache)
        assert options[0] in str(caught.value)
    assert stub.compiles == 0
    assert len(cuda.compile(kernel(), options=[*OPTIONS, *options], cache=False)) > 0


@pytest.mark.parametrize("word", ["__DATE__", "__TIME__"])
def test_time_of_the_compile_is_refused(compiler: Compiler, cache: jitcache.Cache, word: str) -> None:
    source = f"__device__ const char made[] = {word};\n" + kernel()
    with pytest.raises(jitcache.RefusedError, match=word):
        cuda.compile(source, options=OPTIONS, cache=cache)
    assert len(cuda.compile(source, options=OPTIONS, cache=False)) > 0


NULS = {
    "source": {"source": kernel() + "\0"},
    "name": {"name": "a\0b"},
    "option": {"options": [*OPTIONS, "-DA=\0"]},
    "name expression": {"name_expressions": ["fill\0"]},
    "header's name": {"headers": {"a\0.h": ""}},
    "header's text": {"headers": {"a.h": "\0"}},
}


@pytest.mark.parametrize("where", NULS)
def test_nul_is_an_error(stub: Compiler, cache: jitcache.Cache, where: str) -> None:
    for store in (cache, False):
        with pytest.raises(jitcache.Error, match="NUL"):
            cuda.compile(**{"source": kernel(), "options": OPTIONS, "cache": store, **NULS[where]})
    assert stub.compiles == 0


TYPES = {
    "source": {"source": 1},
    "name": {"name": 1},
    "options": {"options": "-arch=sm_80"},
    "an option": {"options": [1]},
    "target": {"target": 1},
    "name_expressions": {"name_expressions": "fill"},
    "headers": {"headers": {"a.h": 1}},
}


@pytest.mark.parametrize("what", TYPES)
def test_other_types_are_type_errors(stub: Compiler, cache: jitcache.Cache, what: str) -> None:
    with pytest.raises(TypeError):
        cuda.compile(**{"source": kernel(), "options": OPTIONS, "cache": cache, **TYPES[what]})


def test_target_is_one_of_three(stub: Compiler, cache: jitcache.Cache) -> None:
    with pytest.raises(jitcache.Error, match="fatbin"):
        cuda.compile(kernel(), options=OPTIONS, target="fatbin", cache=cache)
