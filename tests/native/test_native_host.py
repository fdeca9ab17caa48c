"""examples/native_host, built from an installed tree as its first lines say."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import CountedCompiler
from installed import example, run


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built against what make install puts in place and nothing else."""
    return example("native_host", tmp_path_factory)


def test_second_process_runs_no_compiler(host: Path, tmp_path: Path, counted: CountedCompiler) -> None:
    first = run(host, "3", counted.path, JITCACHE_DIR=str(tmp_path / "cache"))
    assert first.endswith(", compiled\n")
    assert counted.compiles() == 1
    second = run(host, "3", counted.path, JITCACHE_DIR=str(tmp_path / "cache"))
    assert second == first.replace("compiled", "from the cache")
    assert counted.compiles() == 1
    assert run(host, "4", counted.path, JITCACHE_DIR=str(tmp_path / "cache")).endswith(", compiled\n")


def test_four_processes_compile_once(host: Path, tmp_path: Path, counted: CountedCompiler) -> None:
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda _: run(host, "5", counted.path, JITCACHE_DIR=str(tmp_path / "cache")), range(4)))
    assert sum(s.endswith(", compiled\n") for s in said) == counted.compiles() == 1
    assert len({s.partition(",")[0] for s in said}) == 1


def test_missing_compiler_is_named(host: Path, tmp_path: Path) -> None:
    env = {**os.environ, "JITCACHE_DIR": str(tmp_path / "cache")}
    p = subprocess.run([host, "3", "no-such-compiler"], env=env, capture_output=True, text=True, check=False)
    assert p.returncode == 1
    assert "no-such-compiler" in p.stderr
