"""What the processes of rows have before their own code: JAX as a fresh process has it, no client of XLA, and nothing of ours."""

from __future__ import annotations

import subprocess

import likeness
import pytest
from prepared import FRESH, Process
from project import IMPORTS, PREPARED, Project

#: The clients of XLA that there are. Each has threads.
CLIENTS = "[*sys.modules['jax._src.xla_bridge']._backends]"


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


def test_row_forks_unless_a_setting_of_its_own_may_be_read_at_import(project: Project) -> None:
    rows = [project.start("", **env) for env in ({}, {"WITHOUT": "lease"}, {"JAX_ENABLE_X64": "1"})]
    assert likeness.kinds(rows) == [Process, Process, subprocess.Popen]


def test_prepared_process_has_nothing_of_ours_and_no_thread_but_numpy_s(project: Project) -> None:
    """A child of fork has none of its parent's threads. NumPy's are ready for that."""
    assert likeness.mapped(PREPARED, project, ["jitcache"]) == []
    assert likeness.mapped(PREPARED, project, ["jitcache"], "import jitcache; jitcache.available()") == ["jitcache"]
    assert likeness.threads(PREPARED, project, ", ".join(IMPORTS)) == likeness.threads(PREPARED, project, "numpy")


def test_jax_is_as_it_is_in_a_fresh_process(project: Project) -> None:
    clients = likeness.assert_likeness(PREPARED, project, ", ".join(IMPORTS), ["jax", "jaxlib"], CLIENTS)
    assert clients == []
