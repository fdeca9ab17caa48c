"""A project of CMake that brings jitcache along, by FetchContent: it is built, linked and installed with the project."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import compilers
import pytest
import samples
from checkout import run

SAMPLE = samples.under("docs/install.md", "CMake")
LISTS = f"""
cmake_minimum_required(VERSION 3.18)
project(host C)
add_executable(host main.c)
{SAMPLE}"""
PROGRAM = """
#include <jitcache.h>
#include <stdio.h>
int main(void)
{
    puts(jitcache_version());
    return 0;
}
"""


@pytest.mark.parametrize("generator", ["Unix Makefiles", pytest.param("Ninja", marks=pytest.mark.rest)])
def test_project_is_built_with_it_and_runs(copy: Path, tmp_path: Path, generator: str) -> None:
    missing = [tool for tool in ("cmake", "ninja" if generator == "Ninja" else "make") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"no {missing[0]} here")
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    build, prefix = tmp_path / "out", tmp_path / "prefix"
    # Nothing is downloaded: the source is that of this checkout.
    given = [
        "-DJITCACHE_REPOSITORY=nowhere",
        f"-DFETCHCONTENT_SOURCE_DIR_JITCACHE={copy}",
        f"-DCMAKE_INSTALL_PREFIX={prefix}",
    ]
    run("cmake", "-G", generator, "-S", tmp_path, "-B", build, *given, **compilers.variables())
    assert not (copy / "build" / "lib").exists()
    # The program alone is asked for: what it is linked to is built before it.
    run("cmake", "--build", build, "--target", "host")
    assert run(build / "host") == run("jitcache", "version", PATH=path_of(copy)).split()[1] + "\n"
    run("cmake", "--install", build)
    assert (prefix / "lib" / "libjitcache.so.1").is_file()
    assert (prefix / "lib" / "cmake" / "jitcache" / "jitcacheConfig.cmake").is_file()


def path_of(copy: Path) -> str:
    return f"{copy / 'build' / 'lib'}{os.pathsep}{os.environ['PATH']}"
