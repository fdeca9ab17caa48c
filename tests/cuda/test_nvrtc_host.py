"""examples/nvrtc_host, built from an installed tree as its first lines say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import wheels
from installed import example, run

LAUNCHED = "launched: 8128"  # 0 + 1 + … + 127


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built against what make install puts in place and nothing else."""
    return example("nvrtc_host", tmp_path_factory)


def libraries(text: str) -> set[str]:
    mapped = re.search(r"^mapped: (.*)$", text, re.MULTILINE)
    assert mapped, text
    return {name.partition(".so")[0] for name in mapped[1].split()}


@pytest.mark.nvrtc
@pytest.mark.parametrize("version", ["12", "13"])
def test_second_process_hits_without_nvrtc_and_driver(host: Path, version: str) -> None:
    first, second = (run(host, wheels(version)).splitlines() for _ in range(2))
    assert first[0].startswith("compiled: ")
    # NVRTC works in a process of its own.
    assert libraries("\n".join(first)) == {"nothing"}
    assert second[0] == first[0].replace("compiled", "hit")
    assert libraries("\n".join(second)) == {"nothing"}
    # The names in the code are those of the kernels, hit or not.
    assert first[1].startswith("sum<float, 128>: _Z3sumIfLi128EE")
    assert first[2].startswith("sum<int, 256>: _Z3sumIiLi256EE")
    assert second[1:3] == first[1:3]


@pytest.mark.nvrtc
def test_the_log_is_shown_when_it_does_not_compile(host: Path) -> None:
    p = subprocess.run([host, wheels("13"), "-Dsum=*"], capture_output=True, text=True, check=False)
    assert p.returncode == 1
    assert p.stderr.startswith("nvrtc_host: ")
    assert "sum.cu(" in p.stderr


def test_missing_library_is_named(host: Path, tmp_path: Path) -> None:
    p = subprocess.run([host, tmp_path], capture_output=True, text=True, check=False)
    assert p.returncode == 1
    assert "libnvrtc" in p.stderr


@pytest.mark.gpu
def test_kernel_is_launched(host: Path) -> None:
    for _ in range(2):
        assert run(host, wheels("13")).splitlines()[-1] == LAUNCHED
