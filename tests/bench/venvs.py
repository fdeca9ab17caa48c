"""Environments with packages that are too large to be among what all rows are measured against."""

from __future__ import annotations

import subprocess
import sys

from ground import ROOT


def python_with(name: str, *packages: str) -> str:
    """Return a Python with packages. The tests may have made the environment already, which is named as they name it.

    Raises OSError if they cannot be installed.
    """
    made = ROOT / "build" / "venvs" / name
    python = str(made / "bin" / "python")
    if not (made / "ready").exists():
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
        for command in ([sys.executable, "-m", "venv", "--clear", str(made)], pip):
            if subprocess.run(command, check=False, capture_output=True).returncode != 0:
                raise OSError(f"{packages[0]} cannot be installed")
        (made / "ready").touch()
    return python


def folder_with(name: str, *packages: str) -> str:
    """Return a folder for PYTHONPATH with packages that are Python alone. Raises OSError likewise."""
    made = ROOT / "build" / "bench" / name
    if not (made / "ready").exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--upgrade"]
        if subprocess.run([*pip, "--target", str(made), *packages], check=False, capture_output=True).returncode != 0:
            raise OSError(f"{packages[0]} cannot be installed")
        (made / "ready").touch()
    return str(made)
