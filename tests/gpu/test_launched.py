"""On a GPU: what a process finds it launches, and the results are those of a process without the cache.

    python -m pytest -s tests/gpu

in an environment with some of the frameworks prints a table of the times to the first
results, with everything that is on the way there.
"""

from __future__ import annotations

import shutil

import pytest
from project import NEEDS, Project
from projects import go_on, wait_for_ready

pytestmark = pytest.mark.gpu

each = pytest.mark.parametrize("project", NEEDS, indirect=True)


@each
def test_a_process_launches_what_another_has_compiled(project: Project) -> None:
    plain, cold = project.plain(), project.ran()
    warm = min((project.ran() for _ in range(3)), key=lambda ran: ran.seconds)
    print(
        f"\n{project.framework:10}{plain.seconds:8.3f} s{cold.seconds:8.3f} s{warm.seconds:8.3f} s, {plain.compiles} compiles"
    )
    assert [ran.right for ran in (plain, cold, warm)] == [True] * 3
    assert plain.results == cold.results == warm.results
    assert plain.compiles > 0  # who counts sees them
    # What is made only to ask the compiler who it is, as CuPy does, is made without the adapter.
    assert 0 < cold.compiles <= plain.compiles
    assert warm.compiles == 0


@each
def test_a_changed_program_launches_what_it_says(project: Project) -> None:
    before = project.ran()
    project.change()
    after, again = project.ran(), project.ran()
    assert before.right and after.right and again.right
    assert before.results != after.results == again.results
    assert (after.compiles > 0, again.compiles) == (True, 0)


@each
def test_damaged_entries_are_compiled_again_and_launched(project: Project) -> None:
    first = project.ran()
    for entry in project.entries():
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 0xFF
        entry.write_bytes(data)
    second, third = project.ran(), project.ran()
    assert second.right and second.results == first.results
    assert (second.compiles > 0, third.compiles) == (True, 0)


@each
def test_four_processes_at_once_compile_once_and_launch(project: Project) -> None:
    once = project.ran().compiles
    shutil.rmtree(project.cache)
    processes = [project.begin(ready=True) for _ in range(4)]
    for p in processes:
        wait_for_ready(p)
    for p in processes:
        go_on(p)
    said = [project.ended(p) for p in processes]
    assert all(s["right"] for s in said)
    assert len({tuple(s["results"]) for s in said}) == 1
    assert project.compiled() == once
