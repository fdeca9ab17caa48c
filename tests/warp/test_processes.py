"""Many processes, some of which die: beside Warp's own cache."""

from __future__ import annotations

from project import AT_ONCE, CALL, OURS, Project
from projects import go_on, kill, wait_for_ready


def test_three_processes_at_once_compile_once(project: Project) -> None:
    said = project.at_once([OURS + AT_ONCE] * 3, SLEEP="1")
    assert project.compiled() == 1
    assert said[0] == said[1] == said[2]


def test_with_warp_s_own_cache_each_of_them_compiles(project: Project) -> None:
    """The other column of the table in docs/warp.md."""
    project.at_once([AT_ONCE] * 3, SLEEP="3")
    assert project.compiled() == 3


def test_after_a_kill_in_the_compile_the_next_compiles(project: Project) -> None:
    """Who waits goes on at once, and who comes later finds nothing half made."""
    p = project.start(OURS + CALL, SLEEP="100")
    project.wait_for_compile()
    waiter = project.start(OURS + AT_ONCE)
    wait_for_ready(waiter)
    go_on(waiter)
    kill(p)
    said = project.end(waiter)[-1]
    assert project.compiled() == 2
    project.forget()
    assert project.run(OURS + CALL) == said
    assert project.compiled() == 0


FAILS = """
import time
import program
def attempt():
    began = time.monotonic()
    try:
        wp.launch(program.k, dim=3, inputs=[wp.zeros(3, dtype=float, device="cpu")], device="cpu")
    except Exception as e:
        return type(e).__name__, time.monotonic() - began
"""
SNIPPET = """
import warp as wp

@wp.func_native(snippet="this is not C++;")
def broken(x: float) -> float: ...

@wp.kernel
def k(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = broken(a[i])
"""


def test_compile_that_fails_leaves_no_lease(project: Project) -> None:
    """Another process fails by itself, at once, while the first is still there."""
    (project.folder / "program.py").write_text(SNIPPET)
    say = "kind, seconds = attempt()\nsay(error=kind, seconds=seconds)\n"
    p = project.start(OURS + FAILS + "kind, seconds = attempt()\nready()\nsay(error=kind)\n")
    for line in p.stdout:
        if line == "ready\n":
            break
    other = project.run(OURS + FAILS + say)
    p.stdin.write("go\n")
    p.stdin.flush()
    assert project.end(p)[-1]["error"] == other["error"]
    assert other["seconds"] < 60
    assert project.compiled() == 2
    assert project.run(FAILS + say)["error"] == other["error"]
    assert not project.entries()
