"""The packages of requirements.txt: installing them, and finding their files."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import build_steps

_REQUIREMENTS = Path(__file__).with_name("requirements.txt")


class WheelError(Exception):
    """A package is missing and cannot be installed."""


def require(prefixes: list[str]) -> None:
    """Install what is missing of the requirements whose names begin with one of the prefixes."""
    lines = [line.strip() for line in _REQUIREMENTS.read_text().splitlines()]
    wanted = [line for line in lines if line.startswith(tuple(prefixes))]
    need = [line for line in wanted if version(re.split(r"[<>=!~ ]", line)[0]) is None]
    if not need:
        return
    if sys.prefix == sys.base_prefix:
        raise WheelError(f"{', '.join(need)} missing; `make demo` installs into the checkout's .venv")
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1", *need]
    with build_steps.step(f"installing {', '.join(need)}"):
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if p.returncode != 0:
        said = [line for line in p.stdout.splitlines() if line.strip()] or [f"exit status {p.returncode}"]
        raise WheelError(f"packages of {_REQUIREMENTS.name} cannot be installed, no network? pip: {said[-1].strip()}")
    importlib.invalidate_caches()


def version(package: str) -> str | None:
    """Return the version of an installed package, None if it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def find(package: str, pattern: str) -> Path:
    """Return the first file of an installed package whose name matches a glob pattern."""
    distribution = importlib.metadata.distribution(package)
    for file in sorted(distribution.files or []):
        if file.match(pattern):
            return Path(str(distribution.locate_file(file)))
    raise WheelError(f"{package} {distribution.version} has no {pattern}")
