"""The lines about CUDA of the README and of docs/cuda.md, as they stand there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import samples
from conftest import CallLog, Compiler
from fakes import CUDATEST
from installed import compilers, install, run
from processes import check

SOURCE = "template <class T> __global__ void scale(T *x) { *x *= 2; }\n"

#: A context of the thread's, as a host has one: fakes of the driver and its functions are looked up as anybody's.
CONTEXT = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void context(void)
{
	void *library = dlopen(getenv("JITCACHE_LIBCUDA"), RTLD_NOW), *made;
	((int (*)(unsigned))dlsym(library, "cuInit"))(0);
	((int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain"))(&made, 0);
	((int (*)(void *))dlsym(library, "cuCtxSetCurrent"))(made);
}
"""
C = """
#include <jitcache_cuda.h>
#include "context.h"
int main(void)
{
	const char *source = getenv("SOURCE");
	jitcache_cache *cache;
	jitcache_cuda_request *request;
	jitcache_cuda_module *module;
	void *function;
	context();
	if (jitcache_open(NULL, &cache) != JITCACHE_OK)
		return 1;
	LINES
	return function == NULL;
}
"""
CPP = """
#include <jitcache_cuda.hpp>
#include "context.h"
typedef struct CUfunc_st *CUfunction;
int main()
{
	context();
	std::string source = getenv("SOURCE");
	jitcache::Cache cache = jitcache::Cache::open();
	LINES
	return scale == nullptr;
}
"""
LISTS = """
cmake_minimum_required(VERSION 3.16)
project(solver C CXX)
set(CMAKE_CXX_STANDARD 11)
add_executable(solver main.c)
add_executable(solver_cpp main.cpp)
LINES
target_link_libraries(solver PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(solver_cpp PRIVATE jitcache::jitcache ${CMAKE_DL_LIBS})
"""


def test_cuda_lines_compile_once_in_two_processes(compiler: Compiler, tmp_path: Path) -> None:
    lines = samples.under("README.md", "CUDA")
    code = f"source = {SOURCE!r}\n{lines}\nprint(name, len(cubin))"
    first, second = check(code), check(code)
    assert first == second and first.startswith("_Z") and "scale" in first
    assert compiler.compiles == 1


def test_python_lines_of_the_page_load_a_function(stub: Compiler, calls: CallLog) -> None:
    lines = samples.under("docs/cuda.md", "CUDA")
    context = "import os\nfrom devices import Driver\nDriver(os.environ['JITCACHE_LIBCUDA']).primary()\n"
    code = f"{context}source = {SOURCE!r}\n{lines}\nprint(len(scale.code) > 0)"
    assert [check(code) for _ in range(2)] == ["True\n"] * 2
    assert stub.compiles == 1


def test_lines_in_c_and_cpp_are_programs_that_the_lines_in_cmake_build(
    stub: Compiler, calls: CallLog, tmp_path: Path
) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake here")
    sources = {
        "context.h": CONTEXT,
        "main.c": C.replace("LINES", samples.under("docs/cuda.md", "CUDA", 1)),
        "main.cpp": CPP.replace("LINES", samples.under("docs/cuda.md", "CUDA", 2)),
        "CMakeLists.txt": LISTS.replace("LINES", samples.under("docs/cuda.md", "CUDA", 3)),
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    prefix = install(tmp_path / "prefix")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", **compilers.variables())
    run("cmake", "--build", tmp_path / "build")
    for program in ("solver", "solver_cpp"):
        run(tmp_path / "build" / program, SOURCE=SOURCE)
    assert stub.compiles == 1  # C and C++ ask for the same
    assert calls.count("cuModuleGetFunction") == 2


def test_commands_of_the_page_about_fakes_build_them(tmp_path: Path) -> None:
    folder = shutil.copytree(CUDATEST, tmp_path / "cudatest")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "cc").write_text(f'#!/bin/sh\nexec {shlex.join(compilers.c())} "$@"\n')
    (tools / "cc").chmod(0o755)
    lines = samples.under("cuda/cudatest/README.md", "Fakes for tests")
    subprocess.run(
        ["sh", "-euc", lines], cwd=folder, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}, check=True
    )
    assert {p.name for p in folder.glob("*.so.*")} == {"libcuda.so.1", "libnvrtc.so.13"}
