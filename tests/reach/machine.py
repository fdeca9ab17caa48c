"""What else results of tests depend on: the kernel, the processor, and what is installed.

Answers are inherited only where these are as they were when all tests ran: not every
version is pinned. ``python tests/run.py whole`` writes them to .ci/whole.json.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from .changes import WHOLE
from .rooms import ROOT

#: Debian's packages that tests use without naming them in tests/deps-ci.sh.
_BESIDE = ("gcc", "g++", "binutils", "libc6", "libc6-dev", "make", "git", "python3", "qemu-user-static")


def _processor() -> str:
    """Return the processor's model and what it can do."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    found = [re.search(rf"^{name}\s*: (.*)$", text, re.MULTILINE) for name in ("model name", "flags")]
    return "; ".join(" ".join(sorted(m[1].split())) if n else m[1] for n, m in enumerate(found) if m)


def _debian() -> dict[str, str]:
    """Return the versions of Debian's packages that the tests name."""
    script = (ROOT / "tests" / "deps-ci.sh").read_text()
    named = {pair.partition(":")[2] for pair in re.findall(r"[\w.+-]+:[\w.+-]+", script)} | set(_BESIDE)
    try:
        p = subprocess.run(
            ["dpkg-query", "-W", "-f=${db:Status-Status} ${Package} ${Version}\n", *sorted(named)],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return {}
    rows = (line.split() for line in p.stdout.splitlines())
    return {row[1]: row[2] for row in rows if row[0] == "installed" and len(row) == 3}


def _python() -> dict[str, str]:
    """Return the versions of the packages that tests/requirements.txt brings, with what they need."""
    text = (ROOT / "tests" / "requirements.txt").read_text()
    left = re.findall(r"^([\w.-]+)", text, re.MULTILINE)
    found: dict[str, str] = {}
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name in found:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another Python, or an extra
        found[name] = package.version
        left += [
            m[0] for need in package.requires or () if "extra ==" not in need and (m := re.match(r"[\w.-]+", need))
        ]
    return found


def now() -> dict[str, object]:
    """Return what is here."""
    return {
        "kernel": platform.release(),
        "processor": _processor(),
        "python": sys.version.split()[0],
        "debian": _debian(),
        "packages": _python(),
    }


def differences(then: dict[str, object], here: dict[str, object]) -> list[str]:
    """Return what differs, a line each. Of packages those count that were there when all tests ran."""
    lines = []
    for name, old in then.items():
        new = here.get(name)
        if isinstance(old, dict):
            have = new if isinstance(new, dict) else {}
            lines += [
                f"{name}: {p} {v} by then, {have.get(p, 'absent')} here" for p, v in old.items() if have.get(p) != v
            ]
        elif old != new:
            lines.append(f"{name}: {old} by then, {new} here")
    return lines


def recorded() -> dict[str, object]:
    """Return what was there when all tests ran."""
    return dict(json.loads((ROOT / WHOLE).read_text()))


def write() -> None:
    """Write what is here, for a commit that all tests run for."""
    (ROOT / WHOLE).write_text(json.dumps(now(), indent=1, sort_keys=True) + "\n")
