"""Entries and files that are cut or damaged: beside Warp's own."""

from __future__ import annotations

import pytest
from project import CALL, OURS, Project
from projects import damage


@pytest.mark.parametrize("how", ["empty", "cut", "last byte", "0", "0.3", "0.6", "0.97"])
def test_damaged_entries_are_compiled_once_more_and_repaired(project: Project, how: str) -> None:
    first = project.run(OURS + CALL)
    project.compiled()
    assert project.entries()
    for path in project.entries():
        damage(path, how)
    for compiles in (1, 0):
        project.forget()
        assert project.run(OURS + CALL) == first
        assert project.compiled() == compiles


@pytest.mark.parametrize("how", ["empty", "cut", "0.5"])
def test_damaged_files_in_warp_s_folder_are_repaired_without_a_compile(project: Project, how: str) -> None:
    first = project.run(OURS + CALL)
    project.compiled()
    assert project.objects()
    for path in project.objects():
        whole = path.read_bytes()
        damage(path, how)
        assert project.run(OURS + CALL) == first
        assert path.read_bytes() == whole
    assert project.compiled() == 0


def test_damaged_files_that_warp_has_left_are_not_kept(project: Project) -> None:
    """Those of before the adapter was there."""
    first = project.run(CALL)
    for path in project.objects():
        damage(path, "cut")
    assert project.run(OURS + CALL) == first
    project.forget()
    assert project.run(OURS + CALL) == first


def test_with_warp_s_own_cache_a_cut_object_fails_in_every_process(project: Project) -> None:
    """The other column of the table in docs/warp.md."""
    project.run(CALL)
    for path in project.objects():
        damage(path, "cut")
    for _ in range(2):
        p = project.start(CALL)
        p.communicate()
        assert p.returncode != 0


@pytest.mark.parametrize("how", ["gone", "a file", "full"])
def test_directory_that_cannot_be_used_any_more_does_not_fail_the_program(project: Project, how: str) -> None:
    spoil = {
        "gone": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR'])\n",
        "a file": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR']); open(os.environ['JITCACHE_DIR'], 'w')\n",
        "full": "import jitcache._lease as l; l.commit = lambda *a: (False, None)\n",
    }[how]
    plain = project.run(CALL)
    project.forget()
    assert project.run(OURS + spoil + CALL) == plain


def test_entry_that_is_no_module_is_left_to_warp(project: Project) -> None:
    """Whole, but of another making."""
    first = project.run(OURS + CALL)
    project.compiled()
    spoil = """
for e in list(adapter.entries()):
    key = jitcache.Key.from_hex(e["key"]).named(e["name"])
    assert jitcache.default_cache().put(key, b'[["../a", 1]]\\nx', kind="warp", replace=True)
"""
    project.run(OURS + spoil + "say()\n")
    project.forget()
    assert project.run(OURS + CALL) == first
    assert project.compiled() == 1
    assert not (project.own / "a").exists()
