"""The example, as its first lines say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import samples
from project import ROOT


def test_example_runs_and_prints_its_table(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "numba" / "demo.py"), str(tmp_path / "demo")]
    # Settings of the user's that would spoil it are kept out.
    env = {**os.environ, "JITCACHE": "0", "NUMBA_CACHE_DIR": "/nonexistent"}
    p = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert p.returncode == 0, p.stdout
    head, *rows = p.stdout.splitlines()
    assert [word in head for word in ("cold", "fresh process", "Numba own cache")] == [True] * 3
    for name, row in zip(["loop", "statistics", "parallel", "elements"], rows):
        assert re.fullmatch(rf"{name} +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms", row)
    assert p.stdout.endswith("Each was compiled once, every result is right.\n")


def test_lines_of_the_page(tmp_path: Path) -> None:
    """What docs/numba.md tells to write is what it says it is."""
    page = (ROOT / "docs" / "numba.md").read_text()
    install, portable = samples.under("docs/numba.md", "Numba", 1), samples.under("docs/numba.md", "CPUs")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "JITCACHE_DIR": str(tmp_path / "cache")}
    for block in ("import jitcache.adapters.numba\n" + portable, install):
        if "x86-64" in block and os.uname().machine != "x86_64":
            continue
        used = "import numba\nf = numba.njit(cache=True)(lambda x: x + 1)\nassert f(1) == 2\n"
        counted = "assert jitcache.adapters.numba.count() >= 1\n"
        subprocess.run([sys.executable, "-c", block + used + counted], env=env, check=True)
    for name in re.findall(r"`(uncached|entries|count|clear|install|jit|vectorize|guvectorize|cfunc)\(?", page):
        adapter = (ROOT / "python" / "jitcache" / "adapters" / "numba" / "__init__.py").read_text()
        assert f"def {name}(" in adapter or f"{name} = _cache.{name}" in adapter
