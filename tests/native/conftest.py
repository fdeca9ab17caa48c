"""Caches, compilers that leave a trace, and a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python")]

import jitcache

# What needs more than gcc: clang, Cython, zig.
rest = pytest.mark.rest

COMPILERS = ["gcc", pytest.param("clang", marks=rest)]


def need(name: str) -> str:
    """Skip where a program is missing."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the user's, and a temp folder that can be looked into."""
    for name in (
        "CC",
        "CXX",
        "CFLAGS",
        "CXXFLAGS",
        "CPPFLAGS",
        "LDFLAGS",
        "CPATH",
        "LIBRARY_PATH",
        "SOURCE_DATE_EPOCH",
    ):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with jitcache.Cache(tmp_path / "cache") as c:
        yield c


class LoggedCompiler:
    """A compiler that writes down how it is called."""

    def __init__(self, folder: Path, real: str, extra: str = "") -> None:
        self.path = folder / f"calls-{Path(real).name}"
        self._file = folder / "calls"
        self.path.write_text(f'#!/bin/sh\n{extra}\necho "$@" >> {self._file}\nexec {need(real)} "$@"\n')
        self.path.chmod(0o755)

    def calls(self) -> list[str]:
        return self._file.read_text().splitlines() if self._file.exists() else []

    def compiles(self) -> int:
        return sum(" -o " in line and " -M " not in f" {line} " for line in self.calls())


@pytest.fixture
def logged(tmp_path: Path) -> LoggedCompiler:
    return LoggedCompiler(tmp_path, "gcc")


PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import jitcache
from jitcache import native
asked = json.loads(sys.argv[2])
with jitcache.Cache(sys.argv[3]) as cache:
    e = native.build(cache=cache, **asked)
    print(json.dumps({"hit": e.hit, "refused": e.refused, "bytes": bytes(e).hex(), "cython": "Cython" in sys.modules}))
"""


def in_process(
    cache_dir: Path, python: str = sys.executable, env: dict[str, str] | None = None, **asked: Any
) -> dict[str, Any]:
    """Build in a process of its own."""
    command = [python, "-c", PROGRAM, str(ROOT / "python"), json.dumps(asked), str(cache_dir)]
    p = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False)
    assert p.returncode == 0, p.stderr
    result: dict[str, Any] = json.loads(p.stdout)
    return result
