"""Every sample of the pages is run by a test, as it stands there; what is not is listed here, with the reason."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import samples
from samples import ROOT

#: Blocks that no test runs, by page and heading: no program, or one that no test can be.
NOT_RUN = {
    ("ARCHITECTURE.md", "Rooms"): "a list of folders, which tests/arch holds against the tree",
    ("docs/format.md", "The directory"): "a list of files, which tests/format reads by",
    ("docs/format.md", "Entry files"): "a picture of a file",
    ("README.md", "jitcache"): "CI runs the demo; the other line is that of Install",
    ("docs/debugging.md", "A hang"): "processes that wait for each other, and their numbers",
    ("docs/debugging.md", "What the tracer saw"): "what gdb says of a process that is traced",
    ("docs/debugging.md", "gdb and two runtimes"): "what gdb shows of addresses and threads",
    ("CONTRIBUTING.md", "Begin"): "targets of make, which are the areas themselves",
}


def pages() -> list[str]:
    """Return all pages that the project has, from its root."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        return listed.stdout.split()
    found = (p.relative_to(ROOT) for p in ROOT.rglob("*.md"))  # a source distribution
    return sorted(str(p) for p in found if p.parts[0] not in ("build", "dist") and not p.parts[0].startswith("."))


def named(source: Path) -> Iterator[tuple[str, str | None, int | None]]:
    """Yield what a test's source takes from the pages by constants: page, heading, number; None for all."""
    for node in ast.walk(ast.parse(source.read_text())):
        if not isinstance(node, ast.Call):
            continue
        words = [a.value for a in node.args if isinstance(a, ast.Constant)]
        if ast.unparse(node.func) == "samples.of" and len(words) == 1:
            yield words[0], None, None
        elif ast.unparse(node.func) == "samples.under" and len(words) == len(node.args):
            yield words[0], words[1], words[2] if len(words) > 2 else 0


@functools.lru_cache
def run_somewhere() -> set[tuple[str, str | None, int | None]]:
    own = Path(__file__).resolve()
    return {what for p in sorted((ROOT / "tests").rglob("*.py")) if p != own for what in named(p)}


def is_run(sample: samples.Sample, run: set[tuple[str, str | None, int | None]]) -> bool:
    return (sample.page, None, None) in run or (sample.page, sample.heading, sample.number) in run


def test_every_sample_is_run_by_a_test_or_argued() -> None:
    run = run_somewhere()
    left = [s for page in pages() for s in samples.of(page) if not is_run(s, run)]
    assert [f"{s.page}:{s.line}: {s.text.splitlines()[0]}" for s in left if (s.page, s.heading) not in NOT_RUN] == []
    # A reason that is no longer needed goes.
    assert set(NOT_RUN) == {(s.page, s.heading) for s in left}


def test_every_sample_that_a_test_names_is_there() -> None:
    known = {(s.page, s.heading, s.number) for page in pages() for s in samples.of(page)}
    known |= {(page, None, None) for page, _, _ in known}
    assert run_somewhere() - known == set()


@pytest.mark.parametrize("page", pages())
def test_code_stands_between_fences(page: str) -> None:
    """What is only indented would be no sample."""
    outside = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"\n\n((?: {4}|\t)(?!-|\d+\.).*)", outside) == []


def test_control_sample_that_nobody_runs_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.md").write_text("# A page\n\n```sh\ntrue\n```\n\n```\nfalse\n```\n")
    (tmp_path / "test_page.py").write_text('samples.under("page.md", "A page", 1)\n')
    monkeypatch.setattr(samples, "ROOT", tmp_path)
    run = set(named(tmp_path / "test_page.py"))
    assert [is_run(s, run) for s in samples.of("page.md")] == [False, True]
