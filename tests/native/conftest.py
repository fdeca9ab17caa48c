"""Caches, compilers that are counted, and a process of its own."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python")]
sys.path.append(str(ROOT / "tests"))

import jitcache
from bell import Bell

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


@pytest.fixture(autouse=True)
def own_process() -> Iterator[None]:
    """What a row has set of this process is put back."""
    mask = os.umask(0o022)
    limits = resource.getrlimit(resource.RLIMIT_NPROC)
    yield
    os.umask(mask)
    resource.setrlimit(resource.RLIMIT_NPROC, limits)


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with jitcache.Cache(tmp_path / "cache") as c:
        yield c


class CountedCompiler:
    """A compiler that rings a bell when it runs. It leaves nothing behind, and its result does not depend on it."""

    def __init__(self, folder: Path, real: str, extra: str = "") -> None:
        self._bell, self._runs = Bell(folder / "bell"), 0
        self.path = folder / f"counted-{Path(real).name}"
        self.path.write_text(f'#!/bin/sh\n{self._bell.script}\n{extra}\nexec {need(real)} "$@"\n')
        self.path.chmod(0o755)

    def compiles(self) -> int:
        """Return how often it has run."""
        self._runs += self._bell.rung()
        return self._runs

    def close(self) -> None:
        self._bell.close()


@pytest.fixture
def counted(tmp_path: Path) -> Any:
    compiler = CountedCompiler(tmp_path, "gcc")
    yield compiler
    compiler.close()


PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import jitcache
from jitcache import native
asked = json.loads(sys.argv[2])
with jitcache.Cache(sys.argv[3]) as cache:
    e = native.build(cache=cache, **asked)
    print(json.dumps({"hit": e.hit, "refused": e.refused, "missed": e.missed, "bytes": bytes(e).hex(), "cython": "Cython" in sys.modules}))
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
