"""The README's lines about CUDA, as they stand there."""

from __future__ import annotations

import sys
from pathlib import Path

from conftest import TESTS, Compiler
from processes import check

SOURCE = "template <class T> __global__ void scale(T *x) { *x *= 2; }\n"


def test_cuda_lines_compile_once_in_two_processes(compiler: Compiler, tmp_path: Path) -> None:
    sys.path.append(str(TESTS))
    import readme

    *_, lines = readme.blocks("python")
    code = f"source = {SOURCE!r}\n{lines}\nprint(name, len(cubin))"
    first, second = check(code), check(code)
    assert first == second and first.startswith("_Z") and "scale" in first
    assert compiler.compiles == 1
