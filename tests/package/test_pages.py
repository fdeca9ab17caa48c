"""The pages of frameworks and compilers: what to add and what is gained, before anything else."""

from __future__ import annotations

import re

import pytest
from samples import ROOT

#: Pages about something that compiles, and what comes first on each.
PAGES = [
    "cuda", "cuda_core", "cupy", "cute_dsl", "cutile", "jax", "launcher", "memoize", "native", "numba", "torch", "triton", "underworld3", "warp",
]  # fmt: skip

#: Other pages: of concepts, of the project, of what goes around a compile.
OTHERS = {
    "adding", "bench", "coming", "concepts", "debugging", "everyday", "format", "glossary", "install", "mpi", "observation", "programs", "reliability", "remote",
    "sharing", "stability", "start", "troubleshooting",
}  # fmt: skip

#: A screen.
LINES = 45


def head(name: str) -> list[str]:
    """Return the lines of a page before its second heading."""
    _, *lines = (ROOT / "docs" / f"{name}.md").read_text().splitlines()
    fences = [line.startswith("```") for line in lines]
    end = next(n for n, line in enumerate(lines) if line.startswith("#") and sum(fences[:n]) % 2 == 0)
    return lines[:end]


def wrong(lines: list[str]) -> str:
    """Say what is not as it should be at the top of a page: a sentence, the lines to add, a table of what was measured."""
    fence = next((n for n, line in enumerate(lines) if line.startswith("```")), None)
    table = next((n for n, line in enumerate(lines) if line.startswith("| ---")), None)
    if fence is None or fence > 6:
        return "the lines to add do not come first"
    if not "".join(lines[:fence]).strip():
        return "no sentence says what it is"
    if table is None or table < fence:
        return "no table says what is gained"
    if table > LINES:
        return f"the table is no longer in the first screen, but in line {table}"
    rows = "\n".join(lines[table:])
    if not re.search(r"\d (ms|us|s)\b", rows):
        return "the table has no measured time"
    return ""


@pytest.mark.parametrize("name", PAGES)
def test_page_begins_with_the_lines_to_add_and_what_is_gained(name: str) -> None:
    assert wrong(head(name)) == ""


def test_every_page_is_of_one_sort() -> None:
    assert set(PAGES) | OTHERS == {p.stem for p in (ROOT / "docs").glob("*.md")}
    assert not set(PAGES) & OTHERS


def test_start_page_and_overview_name_every_framework() -> None:
    for page, folder in (("README.md", "docs/"), ("docs/start.md", "")):
        text = (ROOT / page).read_text()
        assert [name for name in PAGES if f"({folder}{name}.md)" not in text] == []


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["", "It is:", "", "```sh", "x", "```", "| | |", "| --- | --- |", "| cold | 3 ms |"], ""),
        (["", "```sh", "x", "```", "| | |", "| --- | --- |", "| cold | 3 ms |"], "no sentence"),
        (["", "| | |", "| --- | --- |", "| cold | 3 ms |", "", "It is:", "```sh", "x", "```"], "no table"),
        (["", "It is:", "", "```sh", "x", "```", "| | |", "| --- | --- |", "| cold | slow |"], "no measured time"),
        (["", "It is:", *[""] * 9, "```sh", "x", "```", "| --- | --- |", "| cold | 3 ms |"], "do not come first"),
    ],
)
def test_control_page_of_another_shape_is_seen(lines: list[str], says: str) -> None:
    assert says in wrong(lines)
    assert bool(says) == bool(wrong(lines))
