"""Options pass to NVRTC as they are, in whatever spelling, and what they mean is in the code."""

from __future__ import annotations

import time
from pathlib import Path

import jitcache
import pytest
from conftest import REAL, Compiler
from jitcache import cuda

# What it compiles to depends on the macros A and B, on what options say of arithmetic, and on the standard.
SOURCE = """
#ifndef A
#define A 0
#endif
#ifndef B
#define B 0
#endif
extern "C" __global__ void mix(float *p, const float *q)
{
    p[0] = sqrtf(q[0]) / q[1] * q[2] + q[3] + A + 10 * B + (__cplusplus > 201703L);
}
"""

SAME = {
    "architecture": [
        ["-arch=sm_80"],
        ["-arch", "sm_80"],
        ["--gpu-architecture=sm_80"],
        ["--gpu-architecture", "sm_80"],
    ],
    "macro": [["-DA=1"], ["-D", "A=1"], ["--define-macro=A=1"], ["--define-macro", "A=1"]],
    "undefined macro": [["-UA"], ["-U", "A"], ["--undefine-macro=A"]],
    "arithmetic": [["-ftz=true"], ["--ftz=true"], ["--ftz", "true"], ["-ftz", "true"]],
    "standard": [["-std=c++17"], ["--std=c++17"]],
    "line numbers": [["-lineinfo"], ["--generate-line-info"]],
    "no warnings": [["-w"], ["--disable-warnings"]],
    "order": [["-w", "-ftz=true", "-DA=1"], ["-DA=1", "-w", "-ftz=true"], ["-ftz=true", "-DA=1", "--disable-warnings"]],
    "no effect": [[], ["--no-cache"], ["-no-cache"]],
    "white space": [["-DA=1"], [" -DA=1"], ["-DA=1 "], ["-D A=1"]],
    "folders without headers": [[], ["-I/nowhere"], ["-I", "/nowhere"], ["--include-path=/elsewhere"]],
}

DIFFERENT = {
    "architecture": [["-arch=sm_80"], ["-arch=sm_90"]],
    "macro": [["-DA=1"], ["-DA=2"], []],
    "order of definitions": [["-DA=1", "-DA=2"], ["-DA=2", "-DA=1"]],
    "which is undefined": [["-DA=1", "-UA"], ["-UA", "-DA=1"]],
    "where a definition ends": [["-DA=1", "-DB=1"], ["-DA=1 -DB=1"]],
    "arithmetic": [["-ftz=true"], ["-ftz=false", "-prec-div=false"], ["-use_fast_math"]],
    "last of one name": [["-fmad=true", "-fmad=false"], ["-fmad=false", "-fmad=true"]],
    "standard": [["-std=c++17"], ["-std=c++20"]],
    "debugging": [["-G"], ["-lineinfo"], []],
}  # fmt: skip


def compile(options: list, cache: jitcache.Cache | bool, source: str = SOURCE) -> cuda.Code | None:
    """Return the code, None if NVRTC refuses the options."""
    if not any("arch" in o for o in options):
        options = ["-arch=sm_80", *options]
    try:
        return cuda.compile(source, options=options, cache=cache)
    except jitcache.CompileError:
        return None


def is_fresh(code: cuda.Code, options: list, compiler: Compiler) -> bool:
    """Say whether code is what NVRTC makes with just these options. The fake's digest is of the spelling too."""
    return compiler.name == "stub" or code.code == compile(options, cache=False).code


@pytest.mark.parametrize("what", SAME)
def test_every_spelling_is_compiled_as_it_is_and_found(compiler: Compiler, cache: jitcache.Cache, what: str) -> None:
    for options in SAME[what]:
        codes = [compile(options, cache) for _ in range(2)]
        assert [code.hit for code in codes] == [False, True], options
        assert codes[0].code == codes[1].code
        assert is_fresh(codes[1], options, compiler), options


@pytest.mark.parametrize("what", DIFFERENT)
def test_different_options_are_different_keys(compiler: Compiler, cache: jitcache.Cache, what: str) -> None:
    for options in DIFFERENT[what]:
        code = compile(options, cache)
        if code is not None:
            assert not code.hit, options
            assert is_fresh(code, options, compiler), options
    assert compiler.compiles >= len(DIFFERENT[what])


@pytest.fixture
def two_folders(tmp_path: Path) -> list[Path]:
    """Two folders with a header of one name, each with another value."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for n, folder in enumerate(folders):
        folder.mkdir()
        (folder / "a.h").write_text(f"#define A {n}\n")
    return folders


INCLUDES = "#include <a.h>\n" + SOURCE


def test_order_of_folders_counts_where_it_matters(compiler: Compiler, cache, two_folders: list[Path]) -> None:
    one, two = two_folders
    orders = [["-I", one, "-I", two], ["-I", two, "-I", one]]
    first, second = (cuda.compile(INCLUDES, options=["-arch=sm_80", *o], cache=cache) for o in orders)
    assert (first.hit, second.hit) == (False, False)
    assert first.code != second.code
    for options in (["-I", one], [f"-I{two}/../one", "-I", two], [f"--include-path={one}/"], ["-I/nowhere", "-I", one]):
        code = cuda.compile(INCLUDES, options=["-arch=sm_80", *options], cache=cache)
        assert code.code == first.code, options


def test_pre_includes_keep_their_order(compiler: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"p{n}.h").write_text(f"#undef A\n#define A {n}\n")
    orders = [[f"--pre-include={tmp_path}/p{a}.h", f"-include={tmp_path}/p{b}.h"] for a, b in ((1, 2), (2, 1))]
    codes = [cuda.compile(SOURCE, options=["-arch=sm_80", *o], cache=cache) for o in orders]
    assert [code.hit for code in codes] == [False, False]
    assert codes[0].code != codes[1].code
    assert cuda.compile(SOURCE, options=["-arch=sm_80", *orders[0]], cache=cache).code == codes[0].code


def test_relative_folders_hit_in_another_working_directory(
    compiler: Compiler, cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With -lineinfo the code has the paths, and with LTO-IR too."""
    hits = []
    for more in ([], ["-lineinfo"], ["-dlto"]):
        for folder in ("here", "there"):
            (tmp_path / folder / "include").mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "include" / "a.h").write_text("#define A 1\n")
            monkeypatch.chdir(tmp_path / folder)
            target = "ltoir" if "-dlto" in more else "cubin"
            request = {"source": INCLUDES, "options": ["-arch=sm_80", "-Iinclude", *more], "target": target}
            code = cuda.compile(**request, cache=cache)
            assert code.code == cuda.compile(**request, cache=False).code
            hits.append(code.hit)
    shown = compiler.name == "stub"  # which never shows them
    assert hits == [False, True, False, shown, False, shown]


def test_file_of_an_option_is_looked_at(compiler: Compiler, cache: jitcache.Cache, tmp_path: Path) -> None:
    """A pre-include that changes is another key, whatever becomes of its time stamps."""
    header = tmp_path / "p.h"
    codes = []
    for value in (1, 2, 1):
        header.write_text(f"#define A {value}\n")
        codes.append(cuda.compile(SOURCE, options=["-arch=sm_80", "--pre-include", header], cache=cache))
    assert [code.hit for code in codes] == [False, False, True]
    assert codes[0].code == codes[2].code != codes[1].code


PRECOMPILED = '#include "pre.h"\n#pragma nv_hdrstop\n' + SOURCE


@pytest.mark.parametrize("compiler", REAL, indirect=True)
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_code_of_a_precompiled_header_is_right_and_not_kept(
    compiler: Compiler, cache: jitcache.Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, relative: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "headers.pch" if relative else str(tmp_path / "headers.pch")

    def ask(option: str, store: jitcache.Cache | bool) -> cuda.Code:
        return cuda.compile(PRECOMPILED, options=["-arch=sm_80", f"{option}={path}"], cache=store)

    # One that another process has made, NVRTC looks at and does not use; what it is made from, it then reads
    # itself. The names of all macros are in it, those of the time too, so nothing is kept.
    codes = []
    for value in (1, 2, 1):
        Path("pre.h").write_text(f"#define A {value}\n")
        ask("--create-pch", False)
        time.sleep(0.06)  # what has just changed, and is large, is not kept for that reason
        codes.append(ask("--use-pch", cache))
    assert all("__DATE__" in code.refused for code in codes)
    assert codes[0].code != codes[1].code
    assert codes[2].code == codes[0].code
    Path(path).unlink()
    with pytest.raises(jitcache.CompileError, match=r"headers\.pch"):
        ask("--use-pch", cache)
