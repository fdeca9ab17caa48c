"""Entries that are cut, damaged, or that JAX cannot load: beside JAX's own files."""

from __future__ import annotations

import pytest
from project import CALL, OURS, OWN, Project
from projects import damage


@pytest.mark.parametrize("how", ["empty", "cut", "last byte", "0", "0.3", "0.5", "0.7", "0.97"])
def test_damaged_entries_are_compiled_once_more_and_repaired(project: Project, how: str) -> None:
    first = project.run(OURS + CALL)
    project.compiled()
    entries = project.entries()
    assert entries
    for path in entries:
        damage(path, how)
    assert project.run(OURS + CALL) == first
    assert "Error reading" not in project.errors
    assert project.compiled() == 1
    assert project.run(OURS + CALL) == first
    assert project.compiled(None) == 0


def test_jax_s_own_files_stay_damaged(project: Project) -> None:
    """The other column of the table in docs/jax.md."""
    first = project.run(OWN + CALL)
    project.compiled()
    for path in project.own.glob("jit_f-*-cache"):
        damage(path, "cut")
    for _ in range(2):
        assert project.run(OWN + CALL) == first
        assert "Error reading persistent compilation cache entry for 'jit_f'" in project.errors
        assert project.compiled() == 1


def test_entry_that_jax_cannot_load_is_replaced(project: Project) -> None:
    """A whole entry, of which XLA says that it is not for this machine."""
    spoil = """
for e in list(adapter.entries()):
    if e["name"] == "jit_f":
        key = jitcache.Key.from_hex(e["key"]).named(e["name"])
        assert jitcache.default_cache().put(key, b"not what XLA made", kind="jax", replace=True)
say(count=adapter.count())
"""
    first = project.run(OURS + CALL)
    project.run(OURS + spoil)
    project.compiled()
    assert project.run(OURS + CALL) == first
    assert "Error reading persistent compilation cache entry for 'jit_f'" in project.errors
    assert project.compiled() == 1
    assert project.run(OURS + CALL) == first
    assert "Error reading" not in project.errors
    assert project.compiled(None) == 0


@pytest.mark.parametrize("how", ["gone", "a file", "full"])
def test_directory_that_cannot_be_used_any_more_does_not_fail_the_program(project: Project, how: str) -> None:
    spoil = {
        "gone": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR'])\n",
        "a file": "import shutil; shutil.rmtree(os.environ['JITCACHE_DIR']); open(os.environ['JITCACHE_DIR'], 'w')\n",
        "full": "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n",
    }[how]
    env = {"COMPILED": ""} if how == "full" else {}
    plain = project.run(CALL)
    assert project.run(OURS + spoil + CALL, **env) == plain
