"""What the processes of rows have before their own code: Numba as a fresh process has it, and nothing of ours."""

from __future__ import annotations

import json
import subprocess

import pytest
from prepared import FRESH, SOURCES, Process
from project import PREPARED, Project


@pytest.fixture(autouse=True)
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FRESH, raising=False)


def said(project: Project, code: str, fresh: str = "") -> str:
    """Return what a process prints that begins without instrument.py."""
    p = PREPARED.start(code, env=project.environment("none"), cwd=project.home, fresh=fresh)
    assert isinstance(p, subprocess.Popen if fresh else Process)
    out, err = p.communicate(timeout=600)
    assert (err, p.returncode) == ("", 0)
    return out


def test_row_forks_unless_it_says_why_not(project: Project) -> None:
    rows = [
        project.start("", fresh=why, **env) for why, env in (("", {}), ("it is said", {}), ("", {"NUMBA_OPT": "1"}))
    ]
    assert [type(p) for p in rows] == [Process, subprocess.Popen, subprocess.Popen]
    for p in rows:
        p.communicate(timeout=600)
        assert p.returncode == 0


def test_prepared_process_has_nothing_of_ours(project: Project) -> None:
    asked = (
        "import sys; print([m for m in sys.modules if 'jitcache' in m], 'jitcache' in open('/proc/self/maps').read())"
    )
    assert said(project, asked) == "[] False\n"
    assert said(project, "import jitcache; jitcache.available()\n" + asked).endswith("True\n")


def test_numba_is_as_it_is_in_a_fresh_process(project: Project) -> None:
    """Its modules, and how much each of its tables of names and registries holds."""
    asked = """
import sys, numba, llvmlite.binding
found = {}
for name, module in sys.modules.items():
    if name.partition(".")[0] in ("numba", "llvmlite"):
        found[name] = sorted((k, len(v) if hasattr(type(v), "__len__") else type(v).__name__) for k, v in vars(module).items())
import json
print(json.dumps(found))
"""
    forked, fresh = (json.loads(said(project, asked, why)) for why in ("", "to compare"))
    assert len(forked) > 100
    assert forked == fresh


def test_random_numbers_of_processes_with_one_origin_differ(project: Project) -> None:
    asked = """
import json, random, numba, numpy
@numba.njit
def drawn():
    return numpy.random.random()
print(json.dumps([random.random(), numpy.random.random(), numpy.random.default_rng().random(), drawn()]))
"""
    drawn = [json.loads(said(project, asked)) for _ in range(SOURCES + 1)]
    assert [len({*numbers}) for numbers in zip(*drawn)] == [SOURCES + 1] * 4
