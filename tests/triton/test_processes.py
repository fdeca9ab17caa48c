"""Many at once: one compile, whoever dies or fails, and no failure of the cache's own."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest
from project import OURS, Project


def many(project: Project, count: int, **env: str) -> int:
    """Have processes compile one kernel at once; return how many did."""
    processes = [project.start(PAUSE="2", **env) for _ in range(count)]
    ended = [p.communicate(timeout=600) for p in processes]
    assert [p.returncode for p in processes] == [0] * count, ended
    assert len({out for out, _ in ended}) == 1
    return project.compiled()


def test_four_processes_at_once_compile_once(project: Project) -> None:
    assert many(project, 4, **OURS) == 1


def test_with_triton_s_own_manager_each_compiles(project: Project) -> None:
    assert many(project, 3) > 1


def test_killed_while_it_compiles_the_next_takes_over(project: Project) -> None:
    first = project.start(PAUSE="100", **OURS)
    project.wait_for_compile()
    others = [project.start(**OURS) for _ in range(2)]
    time.sleep(2)
    assert all(p.poll() is None for p in others)  # they wait
    first.send_signal(signal.SIGKILL)
    assert [p.communicate(timeout=60)[1] for p in others] == ["", ""]
    assert [p.returncode for p in others] == [0, 0]
    os.kill(int(project.log.read_text().split()[0]), signal.SIGKILL)  # its ptxas, which lives on
    first.communicate()
    assert project.compiled() == 2  # the killed one, and one of those that waited


FAILS = """
    import app, os, sys, threading, time
    from concurrent.futures import ThreadPoolExecutor
    kept = []
    def work():
        app.compiled(app.fails)
    if {pool}:
        kept.append(ThreadPoolExecutor().submit(work))  # which keeps the exception
        kept[0].exception()
    else:
        for _ in range(2):
            try:
                work()
            except Exception as e:
                kept.append(e)
    print(len(kept), flush=True)
    sys.stdin.readline()
"""

WAITS = """
    import app, time
    start = time.monotonic()
    try:
        app.compiled(app.fails)
    except Exception as e:
        print(type(e).__name__, time.monotonic() - start < 10)
"""


@pytest.mark.parametrize("pool", [True, False])
def test_a_failing_compile_leaves_no_lease_while_its_exception_is_kept(project: Project, pool: bool) -> None:
    """The exception has the frame that failed, and that has the manager."""
    first = project.start(FAILS.format(pool=pool), stdin=subprocess.PIPE, **OURS)
    try:
        assert first.stdout is not None
        assert first.stdout.readline().strip() in ("1", "2")
        second = project.start(WAITS, **OURS)
        try:
            assert second.communicate(timeout=20)[0].strip().endswith("Error True")
        except subprocess.TimeoutExpired:
            second.kill()
            second.communicate()
            pytest.fail("the next waits for a compile that has failed")
    finally:
        first.communicate("\n")


def test_an_error_of_the_compiler_is_what_it_is_without_the_cache(project: Project) -> None:
    code = """
        import app
        for _ in range(2):
            try:
                app.compiled(app.fails)
            except Exception as e:
                print(type(e).__name__, str(e).splitlines()[-1])
        print(app.compiled().metadata.name)
    """
    assert project.check(code).out == project.ours(code).out
    assert len(project.entries()) == 1


def test_threads_compile_each_kernel_once(project: Project) -> None:
    code = """
        import app, threading
        found, ready = [], threading.Barrier(6)
        def work(n):
            ready.wait()
            found.append((n % 2, app.digests(app.compiled(block=256 << n % 2))["cubin"]))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(len(found), len(set(found)))
    """
    ran = project.ours(code)
    assert (ran.out, ran.compiles) == ("6 2", 2)


def test_a_forked_child_compiles_and_finds(project: Project) -> None:
    code = """
        import app, os
        app.compiled()
        pid = os.fork()
        if pid == 0:
            app.compiled(), app.compiled(block=256)
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
    """
    ran = project.ours(code)
    assert (ran.out, ran.compiles) == ("0", 2)


#: A process that compiles in one fresh folder after the other, together with others; rounds begin at files.
ROUNDS = """
    import os, sys, time, app
    from jitcache import Cache
    from jitcache.adapters import triton as adapter
    base, rounds, workers, number = {base!r}, {rounds}, {workers}, int(os.environ["NUMBER"])
    ours = os.environ["WHOSE"] == "ours"
    for r in range(rounds):
        folder = f"{{base}}/{{r}}"
        os.environ["TRITON_CACHE_DIR"] = folder
        if ours:
            adapter.install(Cache(folder + ".cache"))
        open(f"{{base}}/at-{{r}}-{{number}}", "w").close()
        while not all(os.path.exists(f"{{base}}/at-{{r}}-{{n}}") for n in range(workers)):
            time.sleep(0.001)
        try:
            kernel = app.compiled(block=128)
            print("cubin", app.digests(kernel)["cubin"])
        except Exception as e:
            print("failed", r, type(e).__name__, e)
"""


def storm(project: Project, rounds: int, whose: list[str]) -> tuple[list[str], set[str]]:
    """Return what failed, and the cubins that there were."""
    code = ROUNDS.format(base=str(project.home), rounds=rounds, workers=len(whose))
    processes = [project.start(code, NUMBER=str(n), WHOSE=w) for n, w in enumerate(whose)]
    ended = [p.communicate(timeout=550) for p in processes]
    assert [p.returncode for p in processes] == [0] * len(whose), ended
    failed, cubins = [], set()
    for (out, _), w in zip(ended, whose):
        for line in out.splitlines():
            what, _, rest = line.partition(" ")
            if what == "failed":
                failed.append(f"{w}: {rest}")
            else:
                cubins.add(rest)
    return failed, cubins


@pytest.mark.slow
def test_processes_in_fifty_fresh_folders_fail_never_and_compile_once(project: Project) -> None:
    """Triton's own manager removes folders that another process is about to write into."""
    failed, cubins = storm(project, 50, ["ours"] * 4)
    assert failed == []
    assert len(cubins) == 1
    assert project.compiled() == 50


@pytest.mark.slow
def test_processes_beside_triton_s_own_manager_in_one_folder_fail_never(project: Project) -> None:
    failed, cubins = storm(project, int(os.environ.get("ROUNDS", "8")), ["ours", "own", "ours", "own"])
    assert [f for f in failed if f.startswith("ours")] == []
    # Triton's own may, by what it does to folders, and by nothing else.
    assert all("FileNotFoundError" in f or "OSError" in f for f in failed), failed
    assert len(cubins) == 1
