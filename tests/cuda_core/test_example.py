"""The example, and the lines of the page, as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import samples
from projects import ROOT
from workspace import Workspace


def test_example_runs_and_prints_its_table(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "cuda_core" / "demo.py"), str(tmp_path / "demo")]
    # Settings of the user's that would spoil it are kept out.
    env = {**os.environ, "JITCACHE": "0", "JITCACHE_NVRTC": "/nonexistent"}
    p = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert p.returncode == 0, p.stdout
    head, *rows = p.stdout.splitlines()
    assert [word in head for word in ("cold", "fresh process", "cuda.core own cache")] == [True] * 3
    for name, row in zip(["plain", "large", "template", "header"], rows):
        own = "refused" if name in ("template", "header") else r"[\d.]+ ms"
        assert re.fullmatch(rf"{name} +[\d.]+ ms +[\d.]+ ms +{own}", row)
    assert "Each was compiled once, all results agree" in p.stdout


def test_lines_of_the_page(workspace: Workspace) -> None:
    """What docs/cuda_core.md tells to write is what it says it is."""
    first, second, _ = (sample.text for sample in samples.of("docs/cuda_core.md"))  # test_link.py has the third
    begin = "source, options = T, O\n"
    second = second.replace('kernel = code.get_kernel("axpy<float>")', 'print(code.symbol_mapping["axpy<float>"])')
    lines = (
        begin
        + "from cuda.core import Program, ProgramOptions\n"
        + first
        + "print(len(code.code) > 500, len(cache))\n"
        + second
    )
    for compiles in (2, 0):
        assert workspace.run(lines).split("\n") == ["True 1", "b'_Z4axpyIfEvT_PS0_'"]
        assert workspace.compiled() == compiles
