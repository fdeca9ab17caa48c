"""The content of module files is remembered by time stamps, as far as these prove it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from jitcache import _module_files


@pytest.fixture
def stamps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let every file have the same time stamps, as one has that is changed within a tick of the kernel's clock."""
    times: list[int] = []
    monkeypatch.setattr(_module_files, "stamp_of", lambda found: (found.st_ino, *times))
    return times


@pytest.mark.parametrize(("age", "is_read_again"), [(0, True), (-60, True), (60, False)])
def test_file_whose_stamps_prove_nothing_is_read_again(
    tmp_path: Path, stamps: list[int], age: int, is_read_again: bool
) -> None:
    """It is young, or of the future; that a file is not read again if it is old shows what the age decides."""
    stamps[:] = [time.time_ns() - age * 10**9] * 2
    file = tmp_path / "a.py"
    file.write_text("one")
    inode, before = os.stat(file).st_ino, _module_files.content(str(file))
    file.write_text("two")
    assert os.stat(file).st_ino == inode
    assert (_module_files.content(str(file)) != before) is is_read_again
