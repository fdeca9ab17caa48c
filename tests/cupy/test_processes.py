"""Many processes, some of which die: beside CuPy's own cache."""

from __future__ import annotations

from project import AT_ONCE, CALL, OURS, Project
from projects import go_on, kill, wait_for_ready


def test_three_processes_at_once_compile_once(project: Project) -> None:
    said = project.at_once([OURS + AT_ONCE] * 3, STUBNVRTC_SLEEP_MS="1000")
    assert project.compiled() == 1
    assert said[0] == said[1] == said[2]


def test_with_cupy_s_own_cache_each_of_them_compiles(project: Project) -> None:
    """The other column of the table in docs/cupy.md: the kernel, and an empty source."""
    project.at_once([AT_ONCE] * 3, STUBNVRTC_SLEEP_MS="3000")
    assert project.compiled() == 6


def test_threads_of_a_process_compile_once(project: Project) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    codes = {digest(m) for m in pool.map(lambda _: compiled(), range(4))}
say(codes=len(codes))
"""
    assert project.run(OURS + code, STUBNVRTC_SLEEP_MS="500") == {"codes": 1}
    assert project.compiled() == 1


def test_after_a_kill_in_the_compile_the_next_compiles(project: Project) -> None:
    """Who waits goes on at once, and who comes later finds nothing half made."""
    p = project.start(OURS + CALL, STUBNVRTC_SLEEP_MS="100000")
    project.wait_for_compile()
    waiter = project.start(OURS + AT_ONCE)
    wait_for_ready(waiter)
    go_on(waiter)
    kill(p)
    said = project.end(waiter)[-1]
    assert project.compiled() == 2
    assert project.run(OURS + CALL) == said
    assert project.compiled() == 0


FAILS = """
import time
def attempt():
    began = time.monotonic()
    try:
        compiled("this is not C++;")
    except Exception as e:
        return dict(error=type(e).__name__, text="expected a declaration" in str(e), seconds=time.monotonic() - began)
"""


def test_compile_that_fails_is_cupy_s_exception_and_leaves_no_lease(project: Project) -> None:
    """Another process fails by itself, at once, while the first is still there."""
    first = project.start(OURS + FAILS + "said = attempt()\nready()\nsay(**said)\n")
    wait_for_ready(first)
    other = project.run(OURS + FAILS + "say(**attempt())\n")
    go_on(first)
    said = project.end(first)[-1]
    plain = project.run(FAILS + "say(**attempt())\n")
    assert said["error"] == other["error"] == plain["error"] == "CompileException"
    assert said["text"] and other["text"] and plain["text"]
    assert other["seconds"] < 60
    assert project.run(OURS + "say(count=adapter.count())\n") == {"count": 0}
