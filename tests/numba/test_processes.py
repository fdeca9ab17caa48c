"""One compile, however many processes and threads ask; and who waits for whom."""

from __future__ import annotations

import time

from project import Project, taken

SLOW = """
import numba, os, time
from numba.extending import overload
def h(x):
    raise NotImplementedError
@overload(h)
def over(x):
    time.sleep(float(os.environ.get("SLOW", "1")))  # while it is compiled
    return lambda x: x + 1
@numba.njit(cache=True)
def f(x):
    return h(x)
"""
# What takes LLVM seconds, and is found by its source.
LONG = "import numba\n@numba.njit(cache=True)\ndef f(x):\n    x = x + 1\n"
LONG += "".join(f"    if x == {n}:\n        x = x // {n} + x * {n}\n" for n in range(100, 400)) + "    return x\n"
CALL = """
    import a, os, time
    open(os.environ["PROJECT"] + f"/ready-{os.getpid()}", "w").close()
    while not os.path.exists(os.environ["PROJECT"] + "/go"):
        time.sleep(0.01)
    start = time.monotonic()
    try:
        print(a.f(1))
    except Exception as e:
        print(type(e).__name__)
    print(round(time.monotonic() - start))
"""


def at_once(project: Project, many: int, cache: str = "jitcache", **env: str) -> list[list[str]]:
    project.compiled()
    processes = [project.start(CALL, cache, **env) for _ in range(many)]
    while len(list(project.folder.glob("ready-*"))) < many:
        time.sleep(0.02)
    (project.folder / "go").touch()
    ran = [p.communicate(timeout=120) for p in processes]
    assert [p.returncode for p in processes] == [0] * many, ran
    for path in (*project.folder.glob("ready-*"), project.folder / "go"):
        path.unlink()
    return [out.split() for out, _ in ran]


def test_one_of_many_processes_compiles(project: Project) -> None:
    """Longer than the two seconds that a nested compile would wait."""
    project.write(a=SLOW)
    assert [out[0] for out in at_once(project, 4, SLOW="4")] == ["2"] * 4
    assert taken(project.llvm_log).count("f") == 1


def test_one_of_many_processes_gives_to_llvm_what_is_found_by_its_source(project: Project) -> None:
    project.write(a=LONG)
    assert [out[0] for out in at_once(project, 3)] == ["2"] * 3
    assert taken(project.llvm_log).count("f") == 1


def test_without_the_lease_more_than_one_does(project: Project) -> None:
    project.write(a=LONG)
    at_once(project, 3, WITHOUT="lease")
    assert taken(project.llvm_log).count("f") > 1


def test_without_a_look_before_the_lock_waiting_ends_early(project: Project) -> None:
    project.write(a=SLOW)
    at_once(project, 3, WITHOUT="look before the lock", SLOW="4")
    assert project.compiled().count("f") > 1


def test_each_process_of_numba_s_own_compiles(project: Project) -> None:
    project.write(a=SLOW)
    at_once(project, 3, "numba")
    assert project.compiled().count("f") == 3


FAILS = SLOW.replace("return lambda x: x + 1", "return lambda x: x.nothing").replace("SLOW", "FAIL")


def test_compile_that_fails_goes_to_the_next(project: Project) -> None:
    project.write(a=FAILS)
    start = time.monotonic()
    assert [out[0] for out in at_once(project, 3, FAIL="0.5")] == ["TypingError"] * 3
    assert time.monotonic() - start < 60
    # Whoever corrects it is not waited for either.
    project.write(a=SLOW)
    assert project.check("import a; print(a.f(1))", SLOW="0").out == "2"


FAILS_AND_LIVES = """
    import a, sys
    try:
        a.f(1)
    except Exception:
        pass
    print("failed", flush=True)
    sys.stdin.readline()
"""
WAITS = """
    import a, time, threading
    threading.Thread(target=lambda: (time.sleep(15), __import__("os")._exit(7)), daemon=True).start()
    try:
        a.f(1)
    except Exception as e:
        print(type(e).__name__)
"""


def test_lease_of_a_failed_compile_is_free(project: Project) -> None:
    for without, status in (("", 0), ("end", 7)):
        project.write(a=FAILS)
        p = project.start(FAILS_AND_LIVES, waits=True, FAIL="0", WITHOUT=without)
        assert p.stdout is not None
        assert p.stdout.readline() == "failed\n"
        assert project.run(WAITS, FAIL="0").status == status
        p.kill()
        p.communicate()


def test_lease_of_a_killed_process_is_free(project: Project) -> None:
    project.write(a=SLOW)
    p = project.start("import a; a.f(1)", SLOW="60")
    while not project.log.exists():
        time.sleep(0.02)
    p.kill()
    p.communicate()
    start = time.monotonic()
    assert project.check("import a; print(a.f(1))", SLOW="0").out == "2"
    assert time.monotonic() - start < 50  # the compile that was killed would take 60


THREADS = """
    import a, os, sys, threading, time
    from numba.core import compiler
    results = []
    def call(f):
        results.append(f(1))
    # One thread has the lease of inner and comes too late for the compiler lock; the other has the lock and meets inner.
    started = threading.Event()
    from jitcache.adapters.numba import _overloads as overloads
    find = overloads.Lookup.find
    def find_and_tell(self, cache):
        find(self, cache)
        if threading.current_thread().name == "first":
            started.set()
            time.sleep(float(os.environ["HOLD"]))
    overloads.Lookup.find = find_and_tell
    first = threading.Thread(target=call, args=(a.inner,), name="first")
    first.start()
    started.wait()
    start = time.monotonic()
    call(a.outer)
    took = time.monotonic() - start
    first.join()
    print(sorted(results), took < float(os.environ["HOLD"]))
"""
NESTED = (
    "@numba.njit(cache=True)\ndef inner(x):\n    return x + 1\n@numba.njit\ndef outer(x):\n    return inner(x) + 1\n"
)


def test_nobody_with_the_compiler_lock_waits_for_a_thread_without(project: Project) -> None:
    project.write(a=NESTED)
    ran = project.check(THREADS, HOLD="8")
    assert ran.out == "[2, 3] True"
    # And what it compiled is stored, although the lease was the other thread's.
    assert project.check("import a; print(a.inner(1))").compiled == []


def test_without_the_table_of_leases_it_waits(project: Project) -> None:
    project.write(a=NESTED)
    assert project.check(THREADS, HOLD="1.5", WITHOUT="holding").out == "[2, 3] False"


def test_with_the_compiler_lock_another_process_is_waited_for_two_seconds(project: Project) -> None:
    project.write(a=NESTED)
    hold = """
        import a, sys
        from jitcache.adapters.numba import _overloads as overloads
        overloads.dump_result = lambda *args: (print("held", flush=True), sys.stdin.readline())
        a.inner(1)
    """
    p = project.start(hold, waits=True)
    assert p.stdout is not None
    assert p.stdout.readline() == "held\n"
    timed = "import a, time; t = time.monotonic(); print(a.outer(1)); print(time.monotonic() - t)"
    value, seconds = project.check(timed).out.split()
    assert value == "3"
    assert 2 <= float(seconds) < 30  # without an end it would be half an hour
    p.kill()
    p.communicate()
