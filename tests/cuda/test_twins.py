"""Two names of a header count as one file or as two, which #pragma once goes by."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Callable

import jitcache
import pytest
from conftest import Compiler
from jitcache import cuda
from sources import KERNEL, OPTIONS

TWICE = "#pragma once\n#ifdef SEEN\n#undef VALUE\n#define VALUE 2\n#else\n#define SEEN\n#define VALUE 1\n#endif\n"
SOURCE = '#include "a.h"\n#include "b.h"\n' + KERNEL


def become_two(second: Path) -> None:
    second.unlink()
    shutil.copy2(second.parent / "a.h", second)


def become_one(second: Path) -> None:
    second.unlink()
    os.link(second.parent / "a.h", second)


def pointed(first: Path, second: Path) -> None:
    second.symlink_to(first)


@pytest.mark.control("notwins", rows=["stub-link to copy"])
@pytest.mark.parametrize(
    ("before", "change"),
    [(os.link, become_two), (pointed, become_two), (shutil.copy2, become_one)],
    ids=["hard link to copy", "link to copy", "copy to hard link"],
)
def test_answer_is_that_of_a_fresh_compile_when_two_names_become_another_number_of_files(
    compiler: Compiler,
    cache: jitcache.Cache,
    tmp_path: Path,
    before: Callable[[Path, Path], object],
    change: Callable[[Path], None],
) -> None:
    (tmp_path / "a.h").write_text(TWICE)
    before(tmp_path / "a.h", tmp_path / "b.h")
    os.utime(tmp_path / "a.h", (1e9, 1e9))

    def made(cache: jitcache.Cache | bool) -> cuda.Code:
        return cuda.compile(SOURCE, options=[*OPTIONS, f"-I{tmp_path}"], target="ptx", cache=cache)

    first, again = made(cache), made(cache)
    assert (again.code, again.hit) == (first.code, True)
    change(tmp_path / "b.h")
    after, fresh = made(cache), made(False)
    assert after.code == fresh.code != first.code
