"""Packages for CMake, conda, Spack and the index; and the workflow that publishes them."""

from __future__ import annotations

from .common import ROOT, Count, pytest, venv

NEEDS = ["cyclonedx-python-lib[json-validation]==11.12.0", "py-rattler-build==0.73.0", "pyyaml==6.0.3"]


def tests() -> Count:
    """All tests but those that need zig, which are in the area portable."""
    files = [word for name in ("tests", "packages") for word in ("-r", str(ROOT / name / "requirements.txt"))]
    python = venv("packages", "shipped", [*files, *NEEDS])
    if python is None:
        return Count(0, 0, 1)
    return pytest("packages", python, "tests/packages", "-m", "not rest")
