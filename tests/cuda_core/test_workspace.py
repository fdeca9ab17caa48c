"""What the processes of rows have before their own code: cuda.core as a fresh process has it, no NVRTC, and nothing of ours."""

from __future__ import annotations

import subprocess

import likeness
import pytest
from prepared import FRESH, Process
from workspace import IMPORTS, PREPARED, Workspace

#: Libraries of which a row's own code chooses one.
CHOSEN = ["jitcache", "libnvrtc", "libnvJitLink", "libnvvm", "libcuda.so"]


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


def test_row_forks_unless_a_setting_of_its_own_may_be_read_at_import(workspace: Workspace) -> None:
    rows = [workspace.start("", **env) for env in ({}, {"WITHOUT": "lease"}, {"LD_LIBRARY_PATH": "/"})]
    assert likeness.kinds(rows) == [Process, Process, subprocess.Popen]


def test_prepared_process_has_no_library_that_a_row_chooses_and_no_thread_but_numpy_s(workspace: Workspace) -> None:
    """A child of fork has none of its parent's threads. NumPy's are ready for that."""
    assert likeness.mapped(PREPARED, workspace, CHOSEN) == []
    assert likeness.mapped(PREPARED, workspace, CHOSEN, "import jitcache; jitcache.available()") == ["jitcache"]
    assert likeness.threads(PREPARED, workspace, ", ".join(IMPORTS)) == likeness.threads(PREPARED, workspace, "numpy")


def test_cuda_core_is_as_it_is_in_a_fresh_process(workspace: Workspace) -> None:
    likeness.assert_likeness(PREPARED, workspace, ", ".join(IMPORTS), ["cuda"])
