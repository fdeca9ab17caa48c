"""What differs from the commit that the tests of this work begin from, as git tells it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from .rooms import ROOT

#: Names the commit, in the place of .ci/base: on a server it is where a branch has left the main one.
VARIABLE = "JITCACHE_TEST_BASE"

#: The commit that a piece of work began from. Its tests have passed.
BASE = ".ci/base"

#: What was installed where all tests passed. The commit that changes it runs all tests.
WHOLE = ".ci/whole.json"

#: How many pieces of work, and how many days, answers may be inherited for until all tests run again.
STEPS, DAYS = 20, 7


class Unknown(Exception):
    """The changes are not known, so everything has to run."""


class Changes(NamedTuple):
    """What differs from a commit."""

    base: str
    head: str
    #: Paths below the checkout.
    files: frozenset[str]


def _git(*words: str, folder: Path = ROOT) -> str:
    p = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    if p.returncode != 0:
        raise Unknown(f"git {' '.join(words)}: {p.stderr.strip() or p.returncode}")
    return p.stdout


def head(folder: Path = ROOT) -> str:
    """Return the commit that is checked out; "" without git."""
    try:
        return _git("rev-parse", "HEAD", folder=folder).strip()
    except Unknown:
        return ""


def _begin(folder: Path) -> str:
    """Return the commit that this work began from."""
    named = os.environ.get(VARIABLE)
    file = folder / BASE
    if named is None and not file.exists():
        raise Unknown(f"there is no {BASE}")
    base = (named if named is not None else file.read_text()).strip()
    if not re.fullmatch(r"[0-9a-f]{40}", base):
        raise Unknown(f"{VARIABLE if named is not None else BASE} names no commit: {base!r}")
    try:
        _git("merge-base", "--is-ancestor", base, "HEAD", folder=folder)
    except Unknown:
        raise Unknown(f"{base[:12]} is no ancestor of this commit") from None
    if named is None:
        set_by = _git("log", "-1", "--format=%H %P", "--", BASE, folder=folder).split()
        # Whoever sets it to a commit of the same piece of work would inherit answers that no run has given.
        if base not in set_by[1:]:
            raise Unknown(f"{BASE} was not set by the first commit after {base[:12]}")
    return base


def since_base(folder: Path = ROOT) -> Changes:
    """Return what differs from where this work began, uncommitted and untracked files among it. Raise Unknown."""
    base = _begin(folder)
    # A file that was moved is one that went and one that came: as a rename, git would name the new place alone.
    differ = _git("diff", "--no-renames", "--name-only", "-z", f"{base}...HEAD", folder=folder).split("\0")
    status = _git("status", "--porcelain", "--no-renames", "-z", "-uall", folder=folder).split("\0")
    files = frozenset(filter(None, [*differ, *(entry[3:] for entry in status)]))
    if WHOLE in files:
        raise Unknown(f"{WHOLE} has changed")
    _within_bounds(folder)
    return Changes(base, head(folder), files)


def _within_bounds(folder: Path) -> None:
    """Raise Unknown if all tests ran too long ago."""
    if not (folder / WHOLE).exists():
        raise Unknown(f"there is no {WHOLE}: no run of all tests is known")
    commit, at = _git("log", "-1", "--format=%H %ct", "--", WHOLE, folder=folder).split() or ("", "0")
    if not commit:
        raise Unknown(f"{WHOLE} is not committed")
    days = (int(_git("log", "-1", "--format=%ct", folder=folder)) - int(at)) / 86400
    if days > DAYS:
        raise Unknown(f"all tests ran {days:.0f} days ago; want at most {DAYS}")
    steps = len(_git("log", "--format=%H", f"{commit}..HEAD", "--", BASE, folder=folder).split())
    if steps > STEPS:
        raise Unknown(f"all tests ran {steps} pieces of work ago; want at most {STEPS}")


def changed_lines(base: str, file: str, folder: Path = ROOT) -> list[str]:
    """Return the lines of a file that were added or removed since a commit."""
    text = _git("diff", "-U0", base, "--", file, folder=folder)
    return [line[1:] for line in text.splitlines() if re.match(r"[+-](?![+-]{2} )", line)]
