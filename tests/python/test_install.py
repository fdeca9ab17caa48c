"""make install, and programs that are built against what it installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
#include <jitcache.h>
#include <stdio.h>
int main(void)
{
    printf("%s %d\\n", jitcache_version(), jitcache_abi_version() >= JITCACHE_ABI_VERSION);
    return 0;
}
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run([sys.executable, ROOT / "cmake" / "install.py", "--prefix", prefix], check=True)
    return prefix


def test_command_is_installed(prefix: Path, tmp_path: Path) -> None:
    env = {**os.environ, "JITCACHE_DIR": str(tmp_path / "cache")}
    out = subprocess.run([prefix / "bin" / "jitcache", "doctor"], env=env, capture_output=True, text=True, check=False)
    assert (out.returncode, out.stderr) == (0, "")
    assert str(tmp_path / "cache") in out.stdout


def test_cmake_finds_it(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("no cmake here")
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(host C)\nfind_package(jitcache 0.1 REQUIRED)\n"
        "add_executable(host main.c)\ntarget_link_libraries(host jitcache::jitcache)\n"
    )
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"],
        ["cmake", "--build", build],
    ):
        subprocess.run(command, check=True, capture_output=True)
    assert subprocess.run([build / "host"], capture_output=True, text=True, check=True).stdout.endswith(" 1\n")


def test_pkg_config_finds_it(prefix: Path, tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None or shutil.which("cc") is None:
        pytest.skip("no pkg-config here")
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "jitcache"], env=env, capture_output=True, text=True, check=True
    )
    (tmp_path / "main.c").write_text(PROGRAM)
    command = ["cc", tmp_path / "main.c", "-o", tmp_path / "host", *flags.stdout.split(), f"-Wl,-rpath,{prefix}/lib"]
    subprocess.run(command, check=True)
    assert subprocess.run([tmp_path / "host"], capture_output=True, text=True, check=True).stdout.endswith(" 1\n")


def test_destdir_is_kept_out_of_the_files(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "cmake" / "install.py", "--prefix", "/opt/jitcache", "--destdir", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    text = (tmp_path / "opt/jitcache/lib/pkgconfig/jitcache.pc").read_text()
    assert "prefix=/opt/jitcache\n" in text
    assert str(tmp_path) not in text
