"""examples/native_host, built from an installed tree as its first lines say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Witness


def run(*command: Any, **more: str) -> str:
    p = subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stdout + p.stderr
    return p.stdout


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built against what make install puts in place and nothing else."""
    if shutil.which("cmake") is None or shutil.which("c++") is None:
        pytest.skip("no cmake here")
    prefix, build = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("build")
    run(sys.executable, ROOT / "cmake" / "install.py", "--prefix", prefix)
    source = shutil.copytree(ROOT / "examples" / "native_host", build / "source")
    strict = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -pedantic -Werror"
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", strict)
    run("cmake", "--build", build)
    return build / "native_host"


def test_second_process_runs_no_compiler(host: Path, tmp_path: Path, witness: Witness) -> None:
    first = run(host, "3", witness.path, JITCACHE_DIR=str(tmp_path / "cache"))
    assert first.endswith(", compiled\n")
    calls = witness.calls()
    second = run(host, "3", witness.path, JITCACHE_DIR=str(tmp_path / "cache"))
    assert second == first.replace("compiled", "from the cache")
    assert witness.calls() == calls
    assert run(host, "4", witness.path, JITCACHE_DIR=str(tmp_path / "cache")).endswith(", compiled\n")


def test_four_processes_compile_once(host: Path, tmp_path: Path, witness: Witness) -> None:
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: run(host, "5", witness.path, JITCACHE_DIR=str(tmp_path / "cache")), range(4)))
    assert sum(s.endswith(", compiled\n") for s in said) == witness.compiles() == 1
    assert len({s.partition(",")[0] for s in said}) == 1


def test_missing_compiler_is_named(host: Path, tmp_path: Path) -> None:
    env = {**os.environ, "JITCACHE_DIR": str(tmp_path / "cache")}
    p = subprocess.run([host, "3", "no-such-compiler"], env=env, capture_output=True, text=True, check=False)
    assert p.returncode == 1
    assert "no-such-compiler" in p.stderr
