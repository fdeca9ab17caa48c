"""Controls of the area race: go test -race must see a lock that is taken out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import programs
import pytest

import build_library

PLANTED = [
    ("core/store/pending.go", "p", "./core", "TestEverythingAtOnce"),
    ("core/store/counts.go", "p", "./core/store", "TestCountersSurviveManyThreads"),
    ("core/lease/lease.go", "t", "./core/lease", "TestOneOfManyThreadsCompiles"),
]


@pytest.mark.parametrize(("file", "owner", "package", "test"), PLANTED)
def test_control_planted_race_is_reported(tmp_path: Path, file: str, owner: str, package: str, test: str) -> None:
    source = programs.ROOT / file
    text = source.read_text()
    unlocked = text
    for call in ("Lock()", "Unlock()"):
        assert f"{owner}.mu.{call}" in text
        unlocked = unlocked.replace(f"defer {owner}.mu.{call}", "").replace(f"{owner}.mu.{call}", "")
    (tmp_path / "unlocked.go").write_text(unlocked)
    (tmp_path / "overlay.json").write_text(json.dumps({"Replace": {str(source): str(tmp_path / "unlocked.go")}}))
    command = [build_library.find_go() or "go", "test", "-race", "-count=1", "-overlay", str(tmp_path / "overlay.json")]
    p = subprocess.run(
        [*command, "-run", f"^{test}$", package],
        cwd=programs.ROOT,
        env={**os.environ, "GORACE": "halt_on_error=1", "GOTOOLCHAIN": "local"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert p.returncode != 0 and "WARNING: DATA RACE" in p.stdout, p.stdout
