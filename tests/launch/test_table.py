"""What a model of compilers had missed: each is changed, launched, and beside it run without the launcher."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import launched
import pytest

pytestmark = pytest.mark.rest

import commands
import commands_told  # noqa: F401
import rows_headers  # noqa: F401
import rows_libraries  # noqa: F401
import rows_tools  # noqa: F401
from rows import CASES

#: Rows that are about the folder that native makes for a build, and the texts in it; and what no two runs do alike.
ELSEWHERE = {
    "header above the private folder",
    "header that is a text too",
    "folder that a wrapper links to",
    "date by a flag",
}
# ccache changes its own files in place: one of the commands is about that.
ELSEWHERE |= {name for name in CASES if "ccache" in name}

#: What is run each time, by what the log says.
REFUSED = {"preloaded library": "time of day", **commands.REFUSED}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CPATH", "LIBRARY_PATH", "SOURCE_DATE_EPOCH", "COMPILER_PATH", "TERM", "CCACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))


def change_and_compare(w: launched.Launched, change: Any, name: str) -> None:
    before = w.plain()
    assert before.status == 0, before.err
    first, replayed, refused = w.launched()
    assert (first, replayed) == (before, False)
    if name in REFUSED and refused:
        assert REFUSED[name] in refused
    else:
        assert not refused
        for _ in range(2):
            assert w.launched() == (before, True, "")
    over = w.over()
    for _ in range(2):
        assert w.again()[0] == over
    change()
    after = w.plain()
    assert after != before, "the row changes nothing, and proves nothing"
    got, replayed, why = w.launched()
    assert (got, replayed) == (after, False)
    if after.status == 0 and not refused and not why:
        assert w.launched() == (after, True, "")


@pytest.mark.control("noabsent", rows=["library that appears earlier-gcc"])
@pytest.mark.control("noenvironment", rows=["variable of a wrapper-gcc"])
@pytest.mark.control("nodates", rows=["time that a wrapper compares-gcc"])
@pytest.mark.parametrize("compiler", ["gcc", "g++", "clang", "clang++"])
@pytest.mark.parametrize("name", sorted(CASES.keys() - ELSEWHERE))
def test_change_of_a_compile_and_link_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, compiler: str
) -> None:
    """After the change the outcome is that of a run without the launcher; before and after it is kept, or refused by name."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    w = launched.Launched(tmp_path / "world", compiler, tmp_path / "cache")
    change_and_compare(w, CASES[name](w, monkeypatch), name)


@pytest.mark.control(
    "noabsent",
    rows=[
        "folder of an assembler that comes first",
        "link that leads nowhere appears",
        "link that leads nowhere is left",
    ],
)
@pytest.mark.control("nochildren", rows=["version that a script greps"])
@pytest.mark.control("nolistings", rows=["files that a script finds by a pattern"])
@pytest.mark.control("nocompiled", rows=["file that python made and others read"])
@pytest.mark.control("noscratch", rows=["file that is made for a moment"])
@pytest.mark.control("nocompilers", rows=["source that python compiles"])
@pytest.mark.control("nomodes", rows=["permissions of a folder that is copied"])
@pytest.mark.control("nopermits", rows=["attribute that a file gets"])
@pytest.mark.control("nodaters", rows=["time in a precompiled header of clang"])
@pytest.mark.parametrize("name", commands.COMMANDS)
def test_change_of_what_a_command_reads_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Assemblers, linkers, archivers, Fortran, code generators, scripts."""
    w = launched.Launched(tmp_path / "world", "gcc", tmp_path / "cache")
    monkeypatch.chdir(w.folder)
    change_and_compare(w, commands.COMMANDS[name](w, monkeypatch), name)
