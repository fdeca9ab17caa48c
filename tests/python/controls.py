"""Controls of an adapter: its tests run with a mechanism taken out by the module ``instrument`` beside them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest


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


def as_tests(
    folder: Path, nodes: Mapping[str, str], intact: str, *options: str, **env: str
) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return the tests of a table: without each mechanism its test fails, and with all of them that of ``intact`` passes."""

    @pytest.mark.parametrize("without", nodes)
    def without_it_its_test_fails(without: str) -> None:
        red(folder / nodes[without], without, *options, **env)

    def with_all_of_them_the_test_passes() -> None:
        green(folder / nodes[intact], *options, **env)

    return without_it_its_test_fails, with_all_of_them_the_test_passes


def green(node: Path | str, *options: str, **env: str) -> None:
    """Assert that a test passes if nothing is taken out."""
    p = run(node, "", *options, **env)
    assert p.returncode == 0, p.stdout
