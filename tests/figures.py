"""Put the figures of the last soak into docs/reliability.md.

    python tests/figures.py

The figures are lines "figure NAME VALUE UNIT" in the logs of the areas of make soak, in
build/test. The status is 1 if an area has none.
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from areas import SOAK, log_of
from areas.common import ROOT

PAGE = ROOT / "docs" / "reliability.md"
HEAD = "## Figures of the last soak\n"


def figures(area: str) -> list[tuple[str, str, str]]:
    """Return name, value and unit of an area's figures. The last counts if a figure was printed twice."""
    text = log_of(area).read_text(errors="replace") if log_of(area).exists() else ""
    found = {m[1]: (m[2], m[3]) for m in re.finditer(r"^\.*figure (\S+) (\S+) (.+)$", text, re.MULTILINE)}
    return [(name.replace("_", " ").replace("-", " "), *rest) for name, rest in found.items()]


def number(value: str) -> str:
    """Return a number with three digits; return any other text as it is."""
    try:
        return f"{float(value):,.0f}" if abs(float(value)) >= 1000 else f"{float(value):.3g}"
    except ValueError:
        return value


def stamp() -> str:
    """Return a line about the commit that was soaked: the last that touched the library's sources."""
    paths = ["capi", "cli", "core", "cuda", "native", "python", "include", "build_library.py"]
    command = ["git", "log", "-1", "--format=%h of %cs", "--", *paths]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return f"On {today}, with commit {commit}, the last until then that touched the library; two cores, all tests by `make soak`."


def main() -> int:
    """Write the page."""
    lines = [HEAD, stamp(), "", "| figure | value |", "| --- | ---: |"]
    empty = [area for area in SOAK if not figures(area)]
    for area in SOAK:
        lines += [f"| {name} | {number(value)} {unit} |" for name, value, unit in figures(area)]
    before = PAGE.read_text().partition(HEAD)[0]
    PAGE.write_text(before + "\n".join(lines) + "\n")
    if empty:
        print(f"figures: none of {', '.join(empty)}", file=sys.stderr)
    return int(bool(empty))


if __name__ == "__main__":
    sys.exit(main())
