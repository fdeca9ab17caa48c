"""Check the version in all places that state it, and prepare a release.

    python tests/release.py                  say what is wrong, if anything
    python tests/release.py --close          date the first heading of CHANGELOG.md: this is the release
    python tests/release.py --open VERSION   begin the next version, and an empty section for it

include/jitcache.h states the version; wheel, command and library take it from there.
python/jitcache/__init__.py and CHANGELOG.md repeat it. --close and --open change files
and commit nothing. CONTRIBUTING.md, "A release", has all steps.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

HEADER, MODULE, CHANGES = "include/jitcache.h", "python/jitcache/_version.py", "CHANGELOG.md"

#: Numbers with rules of their own, by their names in CHANGELOG.md: the file and the pattern that state each.
OTHERS = {
    "C interface": (HEADER, r"#define JITCACHE_ABI_VERSION (\d+)"),
    "entry format": ("core/store/entry.go", r"formatVersion\s*=\s*(\d+)"),
    "key schema": ("core/key/builder.go", r'schema = "jitcache key (\d+)'),
}


class Tree:
    """A checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def git(self, *args: str) -> str:
        """Run git, and return what it prints, "" if it fails."""
        p = subprocess.run(["git", *args], cwd=self.root, capture_output=True, text=True, check=False)
        return p.stdout.strip() if p.returncode == 0 else ""

    def version(self) -> str:
        """Return the version that the header states."""
        return re.search(r'#define JITCACHE_VERSION "(.*)"', self.read(HEADER))[1]

    def heading(self) -> tuple[str, str]:
        """Return version and date, or "unreleased", of the first section of the changes."""
        return re.search(r"^## (\S+), (\S+)$", self.read(CHANGES), re.MULTILINE).groups()

    def section(self) -> str:
        """Return the text of the first section of the changes."""
        return re.split(r"^## .*$", self.read(CHANGES), flags=re.MULTILINE)[1].strip()

    def tags(self) -> list[tuple[int, ...]]:
        """Return the released versions, oldest first."""
        found = [re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", t) for t in self.git("tag", "--list", "v*").splitlines()]
        return sorted(tuple(map(int, m.groups())) for m in found if m)


def numbers(version: str) -> tuple[int, ...]:
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if found is None:
        raise SystemExit(f"release: {version} is not a version: want three numbers")
    return tuple(map(int, found.groups()))


def problems(tree: Tree) -> list[str]:
    """Return what is wrong with a tree, released or not."""
    version, (stated, date) = tree.version(), tree.heading()
    wrong = []
    if f'__version__ = "{version}"' not in tree.read(MODULE):
        wrong.append(f"{MODULE} does not say {version}")
    macros = re.findall(r"#define JITCACHE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", tree.read(HEADER))
    if ".".join(macros) != version:
        wrong.append(f"{HEADER} says {'.'.join(macros)} and {version}")
    if stated != version:
        wrong.append(f"{CHANGES} begins with {stated}, not {version}")
    tag, tags = f"v{version}", tree.tags()
    if date == "unreleased":
        if tags and numbers(version) <= tags[-1]:
            wrong.append(f"{version} does not follow {'.'.join(map(str, tags[-1]))}, which was released")
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        wrong.append(f"{CHANGES}: {date} is no date")
    elif not tree.section():
        wrong.append(f"{CHANGES} says nothing of {version}")
    at_head = [] if tree.git("status", "--porcelain") else tree.git("tag", "--points-at", "HEAD").splitlines()
    here = [t for t in at_head if t.startswith("v")]
    if here and (here != [tag] or date == "unreleased"):
        wrong.append(f"the commit is tagged {', '.join(here)} and is {version}, {date}")
    return wrong + _unsaid(tree, tags)


def _unsaid(tree: Tree, tags: list[tuple[int, ...]]) -> list[str]:
    """Return which numbers have changed since the last release, without a word in the changes."""
    earlier = [t for t in tags if t < numbers(tree.version())]
    last = "v" + ".".join(map(str, earlier[-1])) if earlier else ""
    wrong = []
    for what, (file, pattern) in OTHERS.items():
        before, now = re.search(pattern, tree.git("show", f"{last}:{file}")), re.search(pattern, tree.read(file))
        if now is None:
            wrong.append(f"{file} does not state the {what}")
        elif before and before[1] != now[1] and f"{what} {now[1]}" not in " ".join(tree.section().split()):
            wrong.append(f"{CHANGES} does not say that this is {what} {now[1]}; {last} had {before[1]}")
    return wrong


def _change(tree: Tree, name: str, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, by, tree.read(name), count=1, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"release: {name} has no {pattern}")
    (tree.root / name).write_text(text)


def close(tree: Tree) -> None:
    """Date the first section of the changes."""
    if tree.git("status", "--porcelain"):
        raise SystemExit("release: there are changes that are not committed")
    if tree.heading()[1] != "unreleased":
        raise SystemExit(f"release: {tree.heading()[0]} was released")
    if not tree.section():
        raise SystemExit(f"release: {CHANGES} says nothing of {tree.version()}")
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    _change(tree, CHANGES, r"^(## \S+), unreleased$", rf"\1, {today}")


def open_(tree: Tree, version: str) -> None:
    """Write the next version wherever it is stated."""
    parts = numbers(version)
    if parts <= numbers(tree.version()):
        raise SystemExit(f"release: {version} does not follow {tree.version()}")
    if tree.heading()[1] == "unreleased":
        raise SystemExit(f"release: {tree.heading()[0]} is not released yet")
    _change(tree, HEADER, r'(#define JITCACHE_VERSION )".*"', rf'\1"{version}"')
    for name, part in zip(("MAJOR", "MINOR", "PATCH"), parts):
        _change(tree, HEADER, rf"(#define JITCACHE_VERSION_{name} )\d+", rf"\g<1>{part}")
    _change(tree, MODULE, r'^__version__ = ".*"$', f'__version__ = "{version}"')
    _change(tree, CHANGES, r"^## ", f"## {version}, unreleased\n\n## ")


def main() -> int:
    parser = argparse.ArgumentParser(description="Look at the version, or change it.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--close", action="store_true")
    parser.add_argument("--open", metavar="VERSION")
    a = parser.parse_args()
    tree = Tree(a.root)
    if a.close:
        close(tree)
    if a.open:
        open_(tree, a.open)
    wrong = problems(tree)
    print("\n".join(wrong) or f"{tree.version()}, {tree.heading()[1]}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
