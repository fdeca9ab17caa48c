"""Controls of an adapter: its tests run with a mechanism taken out by the module ``instrument`` beside them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(node: Path | str, without: str, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a test in a new process; WITHOUT names the mechanism that is taken out."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(node)]
    return subprocess.run(
        command,
        env={**os.environ, **env, "WITHOUT": without},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def red(node: Path | str, without: str, *options: str, **env: str) -> None:
    """Assert that a test fails without a mechanism, and that ``take_out`` itself did not fail."""
    p = run(node, without, *options, **env)
    assert p.returncode == 1, p.stdout
    assert "1 failed" in p.stdout
    assert "in take_out" not in p.stdout, p.stdout


def green(node: Path | str, *options: str, **env: str) -> None:
    """Assert that a test passes if nothing is taken out."""
    p = run(node, "", *options, **env)
    assert p.returncode == 0, p.stdout
