"""Recipes for conda and Spack, filled in for a source distribution and put beside it.

    python packages/recipes.py dist/jitcache-VERSION.tar.gz

recipe.yaml is for rattler-build, package.py for Spack. Their requirements come from
pyproject.toml and capi/overlay.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from capi.overlay import runtimes  # noqa: E402

NAMES = ("recipe.yaml", "package.py")


def values(sdist: Path) -> dict[str, str]:
    """Return the values to fill in."""
    project = (ROOT / "pyproject.toml").read_text()

    def stated(pattern: str) -> str:
        found = re.search(pattern, project, re.MULTILINE)
        if found is None:
            raise SystemExit(f"recipes: pyproject.toml has no {pattern}")
        return found[1]

    version = re.fullmatch(r"jitcache-(.+)\.tar\.gz", sdist.name)
    if version is None:
        raise SystemExit(f"recipes: {sdist} is not a source distribution")
    first, last = runtimes.RELEASES[0], runtimes.RELEASES[-1]
    major, minor = last.split(".")
    hatchling, python = stated(r'"hatchling>=([\d.]+)"'), stated(r'^requires-python = ">=([\d.]+)"')
    return {
        "VERSION": version[1],
        "SHA256": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "SUMMARY": stated(r'^description = "(.*)"'),
        "GO_CONDA": f">={first},<{major}.{int(minor) + 1}",
        "GO_SPACK": f"{first}:{last}",
        "PYTHON": f">={python}",
        "PYTHON_SPACK": f"{python}:",
        "HATCHLING": f"hatchling >={hatchling}",
        "HATCHLING_SPACK": f"{hatchling}:",
    }


def write(sdist: Path) -> list[Path]:
    """Write the recipes beside a source distribution; return them."""
    given, written = values(sdist), []
    for name in NAMES:
        text = (HERE / f"{name}.in").read_text()
        for key, value in given.items():
            text = text.replace(f"@{key}@", value)
        path = sdist.parent / name
        path.write_text(text)
        written.append(path)
    return written


if __name__ == "__main__":
    for path in write(Path(sys.argv[1])):
        print(path)
