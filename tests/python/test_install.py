"""make install and cmake --install, and programs that are built against what they installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import compilers
import pytest
from installed import ROOT, install, run

HEADERS = {path.name for path in (ROOT / "include").iterdir()}
PROGRAM = """
#include <jitcache_cuda.h>
#include <stdio.h>
int main(void)
{
    printf("%s %d\\n", jitcache_version(), jitcache_abi_version() >= JITCACHE_ABI_VERSION);
    return 0;
}
"""
CPP = """
#include <jitcache.hpp>
#include <iostream>
int main()
{
    std::cout << jitcache_version() << " " << jitcache::Key().add("x", "1").hex().size() << "\\n";
}
"""
LISTS = """
cmake_minimum_required(VERSION 3.16)
project(host C CXX)
set(CMAKE_CXX_STANDARD 11)
find_package(jitcache 0.1 REQUIRED)
foreach(language c cpp)
  add_executable(host_${language} main.${language})
  target_link_libraries(host_${language} jitcache::jitcache)
endforeach()
"""


def tree(prefix: Path) -> set[str]:
    return {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("prefix"))


def test_every_header_is_installed(prefix: Path) -> None:
    assert {path.name for path in (prefix / "include").iterdir()} == HEADERS
    assert len(HEADERS) == 5  # of C and C++, with CUDA and without, and for native modules


def test_command_is_installed(prefix: Path, tmp_path: Path) -> None:
    env = {**os.environ, "JITCACHE_DIR": str(tmp_path / "cache")}
    out = subprocess.run([prefix / "bin" / "jitcache", "doctor"], env=env, capture_output=True, text=True, check=False)
    assert (out.returncode, out.stderr) == (0, "")
    assert str(tmp_path / "cache") in out.stdout


def test_cmake_finds_it(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake here")
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "main.cpp").write_text(CPP)
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", **compilers.variables())
    run("cmake", "--build", build)
    assert run(build / "host_c").endswith(" 1\n")
    assert run(build / "host_cpp").endswith(" 64\n")


def test_cmake_installs_the_same_tree(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake here")
    build, other = tmp_path / "build", tmp_path / "prefix"
    run("cmake", "-S", ROOT / "cmake", "-B", build, f"-DPython3_EXECUTABLE={sys.executable}")
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", other)
    assert tree(other) == tree(prefix)
    run("cmake", "--install", build, "--prefix", "/opt/x", DESTDIR=str(tmp_path / "root"))
    assert tree(tmp_path / "root/opt/x") == tree(prefix)
    pc = "lib/pkgconfig/jitcache.pc"
    assert (tmp_path / "root/opt/x" / pc).read_text() == (prefix / pc).read_text().replace(str(prefix), "/opt/x")


def test_pkg_config_finds_it(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config here")
    flags = run("pkg-config", "--cflags", "--libs", "jitcache", PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    (tmp_path / "main.c").write_text(PROGRAM)
    run(*compilers.c(), "-O1", tmp_path / "main.c", "-o", tmp_path / "host", *flags, f"-Wl,-rpath,{prefix}/lib")
    assert run(tmp_path / "host").endswith(" 1\n")


def test_destdir_is_kept_out_of_the_files(tmp_path: Path) -> None:
    run(sys.executable, ROOT / "cmake" / "install.py", "--prefix", "/opt/jitcache", "--destdir", tmp_path)
    text = (tmp_path / "opt/jitcache/lib/pkgconfig/jitcache.pc").read_text()
    assert "prefix=/opt/jitcache\n" in text
    assert str(tmp_path) not in text
