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
    # Nothing is downloaded: the repository has this checkout, in one commit.
    repository, fetched = tmp_path / "repository.git", build / "_deps" / "jitcache-src"
    given = [
        f"-DJITCACHE_REPOSITORY={repository}",
        f"-DJITCACHE_COMMIT={committed(copy, repository)}",
        f"-DCMAKE_INSTALL_PREFIX={prefix}",
    ]
    run("cmake", "-G", generator, "-S", tmp_path, "-B", build, *given, **compilers.variables())
    assert not (fetched / "build" / "lib").exists()
    # The program alone is asked for: what it is linked to is built before it.
    run("cmake", "--build", build, "--target", "host")
    assert run(build / "host") == run("jitcache", "version", PATH=path_of(fetched)).split()[1] + "\n"
    run("cmake", "--install", build)
    assert (prefix / "lib" / "libjitcache.so.1").is_file()
    assert (prefix / "lib" / "cmake" / "jitcache" / "jitcacheConfig.cmake").is_file()


def committed(copy: Path, repository: Path) -> str:
    """Make a repository of a copy; return its commit."""
    git = ("git", f"--git-dir={repository}", f"--work-tree={copy}", "-c", "user.name=x", "-c", "user.email=x@x")
    run("git", "init", "-q", "--bare", repository)
    run(*git, "add", "-A", cwd=copy)
    run(*git, "commit", "-q", "-m", "x", cwd=copy)
    return run(*git, "rev-parse", "HEAD").strip()


def path_of(tree: Path) -> str:
    return f"{tree / 'build' / 'lib'}{os.pathsep}{os.environ['PATH']}"
