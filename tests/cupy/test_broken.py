"""Entries that are cut or damaged, and directories that go: beside CuPy's own."""

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
        assert project.run(OURS + CALL) == first
        assert project.compiled() == compiles


def test_cupy_s_own_cache_finds_a_cut_file_too(project: Project) -> None:
    """The other column of the table in docs/cupy.md."""
    first = project.run(CALL)
    project.compiled()
    for path in project.own.iterdir():
        damage(path, "cut")
    for compiles in (2, 1):
        assert project.run(CALL) == first
        assert project.compiled() == compiles


@pytest.mark.parametrize("how", ["gone", "a file"])
def test_directory_that_cannot_be_used_any_more_does_not_fail_the_program(project: Project, how: str) -> None:
    spoil = {
        "gone": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR'])\n",
        "a file": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR']); open(os.environ['JITCACHE_DIR'], 'w')\n",
    }[how]
    plain = project.run(CALL)
    code = OURS + spoil + "print(json.dumps({'code': digest(compiled())}), file=sys.stderr)\n"
    project.end(project.start(code))
    assert plain["code"] in project.errors


def test_nvrtc_that_jitcache_cannot_use_is_left_to_cupy(project: Project) -> None:
    """CuPy then compiles and keeps it, as without the adapter."""
    plain = project.run(CALL)
    project.compiled()
    code = """
from jitcache.adapters.cupy import _program
_program._nvrtc = lambda: "/nonexistent/libnvrtc.so.12"
call()
say(why=adapter.uncached())
"""
    said = project.end(project.start(OURS + code))
    assert said == [plain, {"why": {"LibraryError": 1}}]
    assert project.compiled() == 1  # of the empty source: the kernel is in CuPy's own
