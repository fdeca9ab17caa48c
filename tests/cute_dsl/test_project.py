"""What the processes of rows have before their own code: the DSL as a fresh process has it, and nothing of ours."""

from __future__ import annotations

import subprocess

import likeness
import pytest
from prepared import FRESH, SOURCES, Process
from project import IMPORTS, PREPARED, Project

#: Instances of the DSL, each of which has read its settings. One that has been made must be a row's own.
MADE = "[str(v) for cls in cutlass.cutlass_dsl.CuTeDSL.__mro__ for v in vars(cls).values() if isinstance(v, cutlass.cutlass_dsl.CuTeDSL)]"


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


def test_row_forks_unless_a_setting_of_its_own_may_be_read_at_import(project: Project) -> None:
    rows = [project.start("", **env) for env in ({}, {"WITHOUT": "lease"}, {"CUTE_DSL_ARCH": "sm_100a"})]
    assert likeness.kinds(rows) == [Process, Process, subprocess.Popen]


def test_prepared_process_has_nothing_of_ours_and_no_thread_but_numpy_s(project: Project) -> None:
    """A child of fork has none of its parent's threads. NumPy's are ready for that."""
    assert likeness.mapped(PREPARED, project, ["jitcache"]) == []
    assert likeness.mapped(PREPARED, project, ["jitcache"], "import jitcache; jitcache.available()") == ["jitcache"]
    assert likeness.threads(PREPARED, project, ", ".join(IMPORTS)) == likeness.threads(PREPARED, project, "numpy")


def test_dsl_is_as_it_is_in_a_fresh_process(project: Project) -> None:
    made = likeness.assert_likeness(PREPARED, project, ", ".join(IMPORTS), ["cuda", "cutlass"], MADE)
    assert made == []


def test_processes_that_follow_each_other_have_seeds_of_their_own(project: Project) -> None:
    seeds = {likeness.said(PREPARED, project, "print(hash('text'))") for _ in range(SOURCES)}
    assert len(seeds) == SOURCES
