"""What CONTRIBUTING.md says can be done as it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests"))
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
CODE = [" ".join(text.split()) for text in re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", PAGE)]


def test_targets_are_there() -> None:
    helped = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    named = set(re.findall(r"(?:^|`)(?:make|GO=\S+ make) ([a-z-]+)", PAGE, re.MULTILINE))
    assert {"lib", "test", "release", "wheels"} <= named
    for name in named:
        assert re.search(rf"^  {name} ", helped, re.MULTILINE), name


def test_areas_are_there() -> None:
    import run

    named = [name for code in CODE if "tests/run.py" in code for name in code.partition("tests/run.py ")[2].split()]
    assert {"releases", "push", "whole"} <= set(named)
    assert {name for name in named if name[0] != "-"} <= {*run.AREAS, *run.groups(), "whole"}
    helped = subprocess.run([sys.executable, run.__file__, "-h"], capture_output=True, text=True, check=True).stdout
    assert {name for name in named if name[0] == "-"} <= set(re.findall(r"--\w+", helped))


@pytest.mark.parametrize("code", [c for c in CODE if c.startswith("go test")])
def test_go_commands_name_tests(code: str) -> None:
    words = shlex.split(code)
    for flag, begin in (("-run", "Test"), ("-fuzz", "Fuzz")):
        if flag in words and (name := words[words.index(flag) + 1]).startswith(begin):
            package = ROOT / next(w for w in words if w.startswith("./"))
            assert any(f"func {name}(" in path.read_text() for path in package.glob("*_test.go")), name


def test_pytest_command_chooses_tests() -> None:
    (code,) = [c for c in CODE if " -m pytest " in c]
    words = [sys.executable, *shlex.split(code)[1:], "--collect-only"]
    p = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert re.search(r"^\d+/\d+ tests collected", p.stdout, re.MULTILINE), p.stdout


def test_files_and_names_are_there() -> None:
    from capi.overlay import readback, runtimes

    for path in re.findall(r"\b(?:tests|docs|include|capi|python)/[\w./-]*\w", PAGE):
        assert (ROOT / path).exists(), path
    for name in ("KNOWN", "PYPI", "RELEASES", "EXPERIMENT"):
        assert f"`{name}`" in PAGE
        assert hasattr(runtimes, name)
    assert hasattr(readback, "SETTINGS")
    assert runtimes.UNTESTED in PAGE


def test_what_is_large_and_generated_is_listed() -> None:
    """Of files that a person writes none is so long."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    large = [n for n in names if (ROOT / n).is_file() and (ROOT / n).stat().st_size > 40_000]
    for name in large:
        assert name in PAGE or name.startswith("tests/golden/") or Path(name).name in PAGE, name
