"""Detached entries, which are in no cache, and their files."""

from __future__ import annotations

import os
from pathlib import Path

import jitcache
import pytest
from jitcache._detached_entry import DetachedEntry
from processes import check
from test_fork import in_child

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def files(folder: Path) -> list[Path]:
    return list(folder.glob("jitcache-*"))


def entry(data: bytes = b"x" * 100) -> DetachedEntry:
    return DetachedEntry(data, None, "generic", "")


def test_file_is_whole_or_an_error_each_time(folder: Path) -> None:
    code = """
        import resource, signal, sys, tempfile
        from jitcache import Error
        from jitcache._detached_entry import DetachedEntry
        tempfile.tempdir = sys.argv[1]
        entry = DetachedEntry(b"x" * 100_000, None, "generic", "")
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        for _ in range(2):
            try:
                print(entry.path)
            except Error as e:
                assert str(e).startswith("entry path: "), e
            else:
                sys.exit("it has a path")
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        assert open(entry.path, "rb").read() == b"x" * 100_000
        """
    check(code, folder)
    assert files(folder) == []


def test_no_folder_for_it_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder / "nowhere"))
    with pytest.raises(jitcache.Error, match="entry path: "):
        _ = entry().path


def test_file_that_somebody_has_removed_does_not_matter(folder: Path) -> None:
    made = entry()
    os.unlink(made.path)
    made.close()


def test_child_that_drops_it_leaves_its_parents_file(folder: Path) -> None:
    made = entry()
    path = made.path

    def child() -> None:
        made.close()

    assert in_child(child) == 0
    assert Path(path).read_bytes() == b"x" * 100
    made.close()
    assert files(folder) == []


def test_child_has_a_file_of_its_own(folder: Path) -> None:
    made = entry()
    path = made.path

    def child() -> None:
        own = made.path
        assert own != path
        assert Path(own).read_bytes() == b"x" * 100
        made.close()
        assert not os.path.exists(own)

    assert in_child(child) == 0
    assert files(folder) == [Path(path)]
