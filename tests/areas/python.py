"""The Python package, on this interpreter and on every other that is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from .common import Count, pytest, skipped, venv

#: The tests that depend only on the package.
CORE = [
    "test_cache.py", "test_key.py", "test_keys_golden.py", "test_lease.py", "test_library.py", "test_import.py",
    "test_processes.py", "test_fork.py", "test_log.py", "test_cli.py", "test_ranks.py", "test_view_tier.py",
    "test_view_buffer.py", "test_dependency_walk.py", "test_mapping.py", "test_memoize.py", "test_memoize_changes.py", "test_tasks.py",
    "test_misuse.py",
]  # fmt: skip

#: What they import beside the standard library, as in tests/requirements.txt.
NEEDS = ["pytest>=8.3", "blake3>=1.0", "xxhash>=3.4"]

OLDEST = (3, 9)


def interpreters() -> dict[str, str]:
    """Return every other CPython from 3.9 on, in PATH and in pyenv's folder, by version."""
    places = [shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 20)]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    places += sorted(str(p) for p in pyenv.glob("versions/3.*/bin/python"))
    found: dict[str, str] = {}
    for path in filter(None, places):
        try:
            p = subprocess.run(
                [path, "-c", "import sys; print(sys.version_info[:2], sys.implementation.name)"],
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        m = re.match(r"\((\d+), (\d+)\) cpython", p.stdout)
        if m is None:
            continue
        version = (int(m[1]), int(m[2]))
        if version >= OLDEST and version != sys.version_info[:2]:
            found.setdefault(f"{version[0]}.{version[1]}", path)
    return dict(sorted(found.items(), key=lambda item: [int(n) for n in item[0].split(".")]))


def tests(area: str = "python") -> Count:
    """The package, the command, and what both do with remotes."""
    return pytest(area, sys.executable, "tests/python", "-m", "not root and not cpp")


def root() -> Count:
    """Tests that need root, for other users and devices."""
    if os.geteuid() != 0:
        return skipped("root", "root")
    return pytest("root", sys.executable, "-m", "root")


def on(path: str) -> Callable[[], Count]:
    """The core tests on another interpreter, in a virtual environment of its own."""

    def area() -> Count:
        version = next(v for v, p in interpreters().items() if p == path)
        return _core(f"python-{version}", version, path)

    return area


def _core(area: str, version: str, path: str) -> Count:
    python = venv(area, version, NEEDS, path)
    if python is None:
        return Count(0, 0, 1)
    files = [f"tests/python/{f}" for f in CORE]
    return pytest(area, python, "-m", "not root", *files)
