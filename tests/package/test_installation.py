"""The installation, as README.md and docs/start.md say, in a copy of this tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import samples
from samples import ROOT


def sources(folder: str, names: list[str]) -> set[str]:
    """Say what of a folder is no source."""
    made = {"build", "dist", ".venv", ".git", "__pycache__"} if Path(folder) == ROOT else {"__pycache__"}
    return {name for name in names if name in made or Path(folder, name).is_symlink()}


@pytest.mark.rest
def test_wheel_of_the_readme_and_of_the_start_page_is_installed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, ignore=sources)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE", "PYTHON"))}
    # As Debian's own Python, which is not in an environment, pip refuses to install outside of one.
    env |= {"PATH": f"{sys.base_exec_prefix}/bin:{env['PATH']}", "PIP_REQUIRE_VIRTUALENV": "1"}
    readme = samples.under("README.md", "Install")
    start = samples.under("docs/start.md", "Install it")
    for lines, python in ((readme, tree / "env" / "bin" / "python"), (start, tree / "try" / "bin" / "python")):
        p = subprocess.run(["sh", "-euc", lines], cwd=tree, env=env, capture_output=True, text=True)
        assert p.returncode == 0, p.stdout + p.stderr
        said = subprocess.run(
            [python, "-c", "import jitcache; print(jitcache.available())"],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
        )
        assert said.stdout.startswith("(True"), said.stdout + said.stderr
