"""Files and entries that are cut or damaged, and caches that cannot be used: PyTorch's own behaviour, or better."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from project import CALL, NOTHING, OURS, Project, is_right
from projects import damage


def _cut(project: Project, pattern: str, size: int) -> int:
    found = [path for path in (project.folder / "own").rglob(pattern) if path.is_file()]
    for path in found:
        path.write_bytes(path.read_bytes()[:size])
    return len(found)


def test_library_that_is_cut_short_is_put_there_again(project: Project) -> None:
    """PyTorch alone loads it, and ends by SIGBUS."""
    project.run(OURS + CALL)
    assert _cut(project, "*.main.so", 4096) >= 2
    project.started()
    assert is_right(project.run(OURS + CALL))
    assert project.started() == NOTHING


def test_without_the_adapter_a_library_that_is_cut_short_ends_the_process(project: Project) -> None:
    """The other column of the table in docs/torch.md."""
    project.run(OURS + CALL)
    _cut(project, "*.main.so", 4096)
    p = project.start(CALL)
    p.communicate()
    assert p.returncode < 0


def test_candidates_in_pytorch_s_folder_that_are_cut_or_foreign_do_no_harm(project: Project) -> None:
    project.run(OURS + CALL)
    for number, path in enumerate(sorted((project.folder / "own" / "fxgraph").rglob("*"))):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:100] if number % 2 else b"foreign")
    project.started()
    said = project.run(OURS + CALL)
    assert is_right(said)
    assert said["graphs"] == 2
    assert project.started() == NOTHING


def test_candidate_that_cannot_be_read_is_passed_over(project: Project) -> None:
    """Whole entries, of another making. PyTorch compiles, and stores beside them."""
    project.run(
        """
for e in adapter.entries():
    if "Cache " in e["name"]:
        assert jitcache.default_cache().put(jitcache.Key.from_hex(e["key"]).named(e["name"]), b"foreign", kind="torch", replace=True)
say()
"""
    )
    for graphs in (0, 2):
        shutil.rmtree(project.folder / "own", ignore_errors=True)
        said = project.run(OURS + CALL)
        assert is_right(said)
        assert said["graphs"] == graphs
    assert said["uncached"]["UnpicklingError"] >= 1


def test_damaged_entries_are_made_once_more_and_repaired(project: Project) -> None:
    for path in project.entries():
        damage(path, "cut")
    for starts in (True, False):
        shutil.rmtree(project.folder / "own", ignore_errors=True)
        (project.folder / "own").mkdir()
        project.started()
        assert is_right(project.run(OURS + CALL))
        assert (project.started() != NOTHING) is starts


@pytest.mark.parametrize("how", ["gone", "full"])
def test_cache_that_cannot_be_used_any_more_does_not_fail_the_program(project: Project, how: str) -> None:
    spoil = {
        "gone": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR'])\n",
        "full": "import jitcache._lease as l; l.commit = lambda *a: (False, None)\n",
    }[how]
    assert is_right(project.run(OURS + spoil + CALL))


def test_read_only_cache_is_used(project: Project) -> None:
    said = project.run(OURS + CALL, JITCACHE="readonly")
    assert is_right(said)
    assert project.started() == NOTHING


def test_elf_file_is_whole_or_cut_at_any_length(tmp_path: Path) -> None:
    from jitcache.adapters.torch import _elf

    whole = Path(shutil.which("true") or "").resolve().read_bytes()
    path = tmp_path / "f.so"
    path.write_bytes(whole)
    assert _elf.is_whole(str(path))
    for size in (0, 3, 63, 64, 500, 4096, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert not _elf.is_whole(str(path)), size
    path.write_bytes(b"foreign" * 100)
    assert not _elf.is_whole(str(path))
