"""Pages in a browser: the site, and the report of the command. Needs chromium from
Debian. Screenshots are in build/pages/screenshots."""

from __future__ import annotations

import sys

from .common import ROOT, Count, environment, pytest, run, venv


def tests() -> Count:
    """Make the site, with warnings as errors, and test it."""
    needs = (ROOT / "docs" / "site" / "requirements.txt").read_text().splitlines()
    python = venv("pages", "docs", [line for line in needs if not line.startswith("#")])
    if python is None or run("pages", [sys.executable, "docs/site/build.py", python])[0] != 0:
        return Count(1, 0, 1)
    return pytest("pages", sys.executable, "tests/pages", env=environment(JITCACHE_TEST_SITE="1"))
