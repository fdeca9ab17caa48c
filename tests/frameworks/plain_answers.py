"""What a plain framework answers, without jitcache: kept, since neither the framework nor the row has changed.

An answer is kept by the text of its row and what can change it otherwise: the packages of this environment, the
interpreter and the processor. One in twenty is made again at each commit. If it differs, the test fails, and all
that was kept with it is forgotten.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from prepared import FRESH

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "build" / "test" / "plain"

#: One of so many kept answers is made again at each commit.
AGAIN = 20


def digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]


def pins() -> str:
    """Return a digest of what can change an answer: packages with their files, the interpreter, the processor."""
    packages = sorted(
        f"{d.metadata['Name']} {d.version} {digest(d.read_text('RECORD') or '')}"
        for d in importlib.metadata.distributions()
    )
    with open("/proc/cpuinfo") as f:
        said = {line.partition("\t")[0]: line for line in f}
    processor = [said.get(name, "") for name in ("model name", "flags", "Features", "CPU part")]
    return digest(sys.version, sys.executable, platform.platform(), *processor, *packages)


def commit() -> str:
    """Return the commit that is tested, or nothing outside a checkout."""
    command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


class PlainAnswers:
    """Answers of one framework, in a file that runs side by side may add to."""

    def __init__(self, name: str, folder: Path = KEPT, pinned: str | None = None, at: str | None = None) -> None:
        self._file = folder / f"{name}-{pins() if pinned is None else pinned}.jsonl"
        self._at = commit() if at is None else at
        self._kept: dict[str, str] = {}
        for line in self._file.read_text().splitlines() if self._file.exists() else ():
            try:
                row, answer = json.loads(line)
            except ValueError:  # a run was killed while it wrote
                continue
            self._kept[row] = answer
        #: How many answers were taken as they were, and how many made.
        self.taken = self.made = 0

    def answer(self, row: str, make: Callable[[], str]) -> str:
        """Return a row's answer, which ``make`` gives unless it is kept. The text of the row has all that it asks."""
        name = digest(row)
        kept = self._kept.get(name)
        if kept is not None and not self.is_due(name):
            self.taken += 1
            return kept
        made = make()
        self.made += 1
        if kept is not None and made != kept:
            self._file.unlink(missing_ok=True)
            self._kept.clear()
            raise AssertionError(f"a kept answer of the plain framework is {kept!r}; it now gives {made!r}: {row}")
        if kept is None:
            self._keep(name, made)
        return made

    def is_due(self, name: str) -> bool:
        """Report whether a kept answer is made again at this commit."""
        return os.environ.get(FRESH) == "1" or int(digest(name, self._at), 16) % AGAIN == 0

    def _keep(self, name: str, answer: str) -> None:
        self._kept[name] = answer
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with open(self._file, "a") as f:
            f.write(json.dumps([name, answer]) + "\n")
