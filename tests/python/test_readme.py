"""The README: all of its code runs, and all of its figures were measured."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import compilers
import pytest
import readme
import samples
from test_examples import ROOT, build, run

sys.path.insert(0, str(ROOT / "tests" / "bench"))

import report

README = (ROOT / "README.md").read_text()


@pytest.fixture(autouse=True)
def this_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))


@pytest.fixture
def own_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the C compiler of this machine into PATH under the names in the README."""
    for name in ("gcc", "cc"):
        compilers.script(tmp_path / "bin" / name, [*compilers.c(), "-O1"])
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


def test_first_lines_about_cuda_name_the_wheels_that_the_demo_installs() -> None:
    needed = re.findall(r"^nvidia-cuda-(\w+)", (ROOT / "examples/demo/requirements.txt").read_text(), re.MULTILINE)
    opening = (ROOT / "docs/cuda.md").read_text().partition("```")[0]
    assert {f"nvidia-cuda-{name}" for name in needed} <= set(re.findall(r"`(nvidia-[\w-]+)`", opening))
    section = README.partition("## CUDA")[2].partition("\n## ")[0]
    assert "`nvidia-cuda-nvrtc`" in section
    assert {f"`-{name}`" for name in needed if name != "nvrtc"} <= set(re.findall(r"`-\w+`", section))


def run_python_lines(count: Path, times: int) -> None:
    for _ in range(times):
        assert run([sys.executable, str(ROOT / "tests" / "readme.py"), count]).startswith("10.0 ")


def jitcache(*args: str) -> str:
    return run([sys.executable, "-m", "jitcache", *args])


@pytest.mark.usefixtures("own_compiler")
def test_python_lines_compile_once_in_three_processes(tmp_path: Path) -> None:
    run_python_lines(tmp_path / "count", 3)
    assert (tmp_path / "count").read_text() == "run\n"


@pytest.mark.usefixtures("own_compiler")
def test_stats_are_printed_as_shown(tmp_path: Path) -> None:
    run_python_lines(tmp_path / "count", 3)
    command, *shown = samples.under("README.md", "The cache").splitlines()
    assert command == "$ jitcache stats"
    printed = jitcache("stats").splitlines()

    def shape(lines: list[str]) -> list[list[str]]:
        """Replace what differs from machine to machine in the lines."""
        words = [re.sub(r"^/\S+$", "PATH", w) for line in lines for w in [*line.split(), "\n"]]
        text = re.sub(r"[\d.]+( [KM]iB of)", r"N\1", " ".join(words))
        return [line.split() for line in re.sub(r"\b[\d.]+m?s\b", "TIME", text).splitlines()]

    assert shape(printed) == shape(shown)


def check_lines_are_a_program(language: str, compiler: list[str], standard: str, folder: Path) -> None:
    source = folder / f"lines.{language}"
    source.write_text(readme.program(language))
    build(compiler, standard, source, folder / "lines")
    assert run([folder / "lines"]) == "compiled\nthe code\n"
    assert run([folder / "lines"]) == "the code\n"


@pytest.mark.usefixtures("own_compiler")
def test_c_lines_are_a_program(tmp_path: Path) -> None:
    check_lines_are_a_program("c", compilers.c(), "c99", tmp_path)


@pytest.mark.cpp
@pytest.mark.usefixtures("own_compiler")
def test_cpp_lines_are_a_program(tmp_path: Path) -> None:
    check_lines_are_a_program("cpp", compilers.cpp(), "c++11", tmp_path)


def test_commands_are_there() -> None:
    """Those of the command line answer to --help, those of make are targets."""
    helped = jitcache("--help")
    for name in set(re.findall(r"`jitcache ([a-z]+)", README)):
        assert re.search(rf"^  {name} ", helped, re.MULTILINE), name
    targets = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    for name in set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)):
        assert re.search(rf"^  {name} ", targets, re.MULTILINE), name


def test_cache_is_where_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("JITCACHE_DIR", str(tmp_path / "own"))
    assert jitcache("dir").strip() == str(tmp_path / "own")
    monkeypatch.delenv("JITCACHE_DIR")
    assert jitcache("dir").strip() == str(tmp_path / "xdg" / "jitcache")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert jitcache("dir").strip() == str(tmp_path / ".cache" / "jitcache")
    jitcache("config", "max-size", "20Gi")
    assert "of 20.0 GiB" in jitcache("stats").splitlines()[1]
    jitcache("clear")


def test_figures_are_those_of_the_benchmark() -> None:
    doc = json.loads((ROOT / "docs" / "bench.json").read_text())
    between = README.partition(report.README_BEGIN)[2].partition(report.README_END)[0]
    assert between.strip() == "\n".join(report.readme_table(doc))


def test_links_lead_somewhere() -> None:
    for path in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / path).exists(), path
