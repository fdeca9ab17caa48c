"""What the processes of rows have before their own code: CuPy as a fresh process has it, no NVRTC, and nothing of ours."""

from __future__ import annotations

import subprocess

import likeness
import pytest
from prepared import FRESH, Process
from project import IMPORTS, PREPARED, Project

#: Libraries of which a row's own code chooses one.
CHOSEN = ["jitcache", "libnvrtc", "libcuda.so"]


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


def test_row_forks_unless_a_setting_of_its_own_may_be_read_at_import(project: Project) -> None:
    rows = [project.start("", **env) for env in ({}, {"WITHOUT": "lease"}, {"CUPY_CACHE_IN_MEMORY": "1"})]
    assert likeness.kinds(rows) == [Process, Process, subprocess.Popen]


def test_prepared_process_has_no_library_that_a_row_chooses_and_no_thread_but_numpy_s(project: Project) -> None:
    """A child of fork has none of its parent's threads. NumPy's are ready for that."""
    assert likeness.mapped(PREPARED, project, CHOSEN) == []
    assert likeness.mapped(PREPARED, project, CHOSEN, "import jitcache; jitcache.available()") == ["jitcache"]
    assert likeness.threads(PREPARED, project, ", ".join(IMPORTS)) == likeness.threads(PREPARED, project, "numpy")


def test_cupy_is_as_it_is_in_a_fresh_process(project: Project) -> None:
    likeness.assert_likeness(PREPARED, project, ", ".join(IMPORTS), ["cupy", "cupy_backends"])
