"""What cannot be compiled or cached says so, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import jitcache
import pytest
from conftest import REAL, Compiler
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
    # The worker fails, and then the process, where NVRTC might not.
    assert destroyed == made - 2 * (call == "nvrtcCreateProgram")


# Options with effects that a hit would not have.
LEAVES = [["--create-pch=kernel.pch"], ["--time=times.csv"]]


@pytest.mark.parametrize("compiler", REAL, indirect=True)
@pytest.mark.parametrize("options", LEAVES, ids=" ".join)
def test_what_leaves_files_behind_is_compiled_each_time(
    compiler: Compiler, cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    left = tmp_path / options[0].partition("=")[2]
    for n in (1, 2):
        code = cuda.compile('#include "a.h"\n#pragma nv_hdrstop\n' + kernel(), headers={"a.h": "#define A 1\n"},
                            options=[*OPTIONS, *options], cache=cache)  # fmt: skip
        assert (code.hit, str(left) in code.refused, compiler.compiles) == (False, True, n)
        left.unlink()


# Where the time of the compile can hide. @ is the word, and the others are its halves.
FORMS = {
    "source": {"source": "__device__ const char made[] = @;\n"},
    "spliced": {"source": "__device__ const char made[] = <\\\n>;\n"},
    "pasted": {"source": "#define P(a, b) P2(a, b)\n#define P2(a, b) a##b\n__device__ const char made[] = P(<, >);\n"},
    "option": {"source": "__device__ const char made[] = MADE;\n", "options": ["-DMADE=@"]},
    "option and source": {
        "source": "#define P(a, b) P2(a, b)\n#define P2(a, b) a##b\n__device__ const char made[] = P(A, >);\n",
        "options": ["-DA=<"],
    },
    "header in memory": {"source": '#include "m.h"\n__device__ const char made[] = MADE;\n', "headers": {"m.h": "#define MADE @\n"}},
    "header": {"source": "#include <made.h>\n__device__ const char made[] = MADE;\n"},
    "name expression": {
        "source": "template <int N> __global__ void k() {}\n", "name_expressions": ["k<sizeof(@)>"],
    },
}  # fmt: skip


@pytest.mark.control("notime", rows=["stub-header-__TIME__"])
@pytest.mark.parametrize("word", ["__DATE__", "__TIME__"])
@pytest.mark.parametrize("form", FORMS)
def test_what_shows_the_time_is_compiled_each_time(
    compiler: Compiler, cache: jitcache.Cache, tmp_path: Path, form: str, word: str
) -> None:
    def with_word(text: str) -> str:
        return text.replace("@", word).replace("<\\\n>", f"{word[:4]}\\\n{word[4:]}").replace("(<,", f"({word[:4]},") \
            .replace("=<", f"={word[:4]}").replace(", >)", f", {word[4:]})")  # fmt: skip

    (tmp_path / "made.h").write_text(f"#define MADE {word}\n")
    asked = dict(FORMS[form])
    asked["source"] = with_word(asked["source"]) + kernel()
    asked["options"] = [*OPTIONS, f"-I{tmp_path}", *map(with_word, asked.get("options", ()))]
    if "headers" in asked:
        asked["headers"] = {name: with_word(text) for name, text in asked["headers"].items()}
    if "name_expressions" in asked:
        if compiler.name == "stub":
            pytest.skip("the fake reads no expressions")
        asked["name_expressions"] = list(map(with_word, asked["name_expressions"]))
    for n in (1, 2):
        code = cuda.compile(**asked, cache=cache)
        assert (code.hit, word in code.refused, compiler.compiles) == (False, True, n)


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
