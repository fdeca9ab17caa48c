"""Many at once: one compile, whoever dies, and nobody waits with the DSL's lock in hand."""

from __future__ import annotations

import signal
import time

import pytest
from project import Project

ONE = """
    import app
    from jitcache.adapters import cute_dsl
    fn, args, more, options = app.job()
    result = cute_dsl.compile(fn, *args, key={key!r})
    print(result.how, len(result.object))
"""


def many(project: Project, count: int, key: str, **env: str) -> list[str]:
    processes = [project.start(ONE.format(key=key), PAUSE="2", **env) for _ in range(count)]
    ended = [p.communicate(timeout=120) for p in processes]
    assert all(p.returncode == 0 for p in processes), ended
    assert len({out for out, _ in ended}) == 1
    return project.done()


@pytest.mark.parametrize("key", ["traced", "source"])
def test_four_processes_at_once_compile_once(project: Project, key: str) -> None:
    """And by source, only the one that compiles traces; by the trace, who waits has traced once."""
    done = many(project, 4, key)
    assert done.count("compile") == 1
    assert done.count("trace") <= (4 if key == "traced" else 1)


@pytest.mark.parametrize("key", ["traced", "source"])
def test_without_a_lease_each_compiles(project: Project, key: str) -> None:
    assert many(project, 3, key, WITHOUT="lease").count("compile") > 1


def test_cute_compile_compiles_in_each(project: Project) -> None:
    code = "import app, cutlass.cute as cute\nfn, args, more, options = app.job(); cute.compile(fn, *args)"
    ran = [project.end(p) for p in [project.start(code) for _ in range(3)]]
    assert sum(r.compiles for r in ran) == 3


def started(project: Project, what: str) -> None:
    end = time.monotonic() + 60
    while not (project.log.exists() and what in project.log.read_text()):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("key", ["traced", "source"])
def test_killed_while_it_compiles_the_next_takes_over(project: Project, key: str) -> None:
    first = project.start(ONE.format(key=key), PAUSE="100")
    started(project, "compile")
    others = [project.start(ONE.format(key=key)) for _ in range(2)]
    time.sleep(2)
    assert all(p.poll() is None for p in others)  # they wait
    first.send_signal(signal.SIGKILL)
    assert [p.communicate(timeout=60)[1] for p in others] == ["", ""]
    first.communicate()
    assert [p.returncode for p in others] == [0, 0]
    assert project.done().count("compile") == 2  # the killed one, and one of those that waited


FAILS = """
import cutlass.cute as cute
@cute.jit
def f(x: cute.Int32):
    raise KeyError("mine")
"""


@pytest.mark.parametrize("key", ["traced", "source"])
def test_exceptions_pass_unchanged_and_nothing_is_stored(project: Project, key: str) -> None:
    """Of the trace and of the passes; the lease is free at once."""
    project.write(bad=FAILS)
    code = f"""
        import app, bad, cutlass.cute as cute
        from cutlass.base_dsl.compiler import Compiler
        from jitcache.adapters import cute_dsl
        said = []
        for compile_ in (cute.compile, lambda *a: cute_dsl.compile(*a, key={key!r}), lambda *a: cute_dsl.compile(*a, key={key!r})):
            try:
                compile_(bad.f, 1)
            except Exception as e:
                said.append((type(e), str(e)))
        print(said[0] == said[1] == said[2], said[0][0].__name__)
        class Mine(BaseException):
            pass
        whole = Compiler.compile
        def fails(*a, **k):
            raise Mine
        Compiler.compile = fails
        fn, args, more, options = app.job()
        for _ in range(2):
            try:
                cute_dsl.compile(fn, *args, key={key!r})
            except Mine:
                print("mine", cute_dsl.count())
        Compiler.compile = whole
        fn, args, more, options = app.job()
        print(cute_dsl.compile(fn, *args, key={key!r}).hit, cute_dsl.count())
    """
    out = project.check(code).out.splitlines()
    assert out[0].startswith("True ")
    assert out[1:] == ["mine 0", "mine 0", f"False {1 if key == 'traced' else 2}"]


def test_wrong_arguments_raise_what_they_raise_without_a_cache(project: Project) -> None:
    code = """
        import app, cutlass.cute as cute
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        for call in (
            lambda c: c(fn), lambda c: c(fn, *args, nothing=1), lambda c: c(None), lambda c: c(len), lambda c: c(app.helper, 1),
            lambda c: c(fn, *args, options="--nothing"), lambda c: c(app.kernel, *args[:2], 1),
        ):
            said = []
            for compile_ in (cute.compile, cute_dsl.compile, lambda *a, **k: cute_dsl.compile(*a, key="source", **k)):
                try:
                    call(compile_)
                    said.append(None)
                except Exception as e:
                    said.append((type(e).__name__, str(e).strip().partition("\\n")[0]))  # then the place of the call
            print(said[0] == said[1] == said[2] is not None, said)
        print(cute_dsl.count())
    """
    out = project.check(code).out.splitlines()
    rows = [line for line in out if line.startswith(("True", "False"))]
    assert len(rows) == 7
    assert all(row.startswith("True") for row in rows), "\n".join(rows)
    assert out[-1] == "0"


@pytest.mark.parametrize("key", ["traced", "source"])
def test_threads_compile_each_once(project: Project, key: str) -> None:
    """Eight threads ask for four results; the DSL's own compile is not made for threads."""
    code = f"""
        import app, threading
        from jitcache.adapters import cute_dsl
        found, errors = {{}}, []
        ready = threading.Barrier(8)
        def work(n):
            try:
                fn, args, more, options = app.job()
                ready.wait()
                result = cute_dsl.compile(fn, *args[:3], n % 4, key={key!r})
                found.setdefault(n % 4, []).append(result.object)
            except BaseException as e:
                errors.append(repr(e))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(errors, sorted(found), {{len(set(v)) for v in found.values()}}, len({{v[0] for v in found.values()}}))
    """
    ran = project.check(code)
    assert ran.out == "[] [0, 1, 2, 3] {1} 4"
    assert ran.compiles == 4


def test_a_thread_that_waits_for_another_process_keeps_none_from_compiling(project: Project) -> None:
    code = """
        import app, os, threading, time
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        waits = threading.Thread(target=lambda: print("waited", cute_dsl.compile(fn, *args).hit))
        waits.start()
        time.sleep(1.5)
        print("meanwhile", cute_dsl.compile(app.closed(5), *app.job()[1]).hit, flush=True)
        open(os.environ["HOME"] + "/go", "w").close()
        waits.join()
    """
    slow = """
        import app, os, time, instrument
        from jitcache.adapters import cute_dsl
        from cutlass.base_dsl.compiler import Compiler
        whole = Compiler.compile
        def compile_(*a, **k):
            while not os.path.exists(os.environ["HOME"] + "/go"):
                time.sleep(0.05)
            return whole(*a, **k)
        Compiler.compile = compile_
        instrument.note("begun")
        fn, args, more, options = app.job()
        cute_dsl.compile(fn, *args)
    """
    first = project.start(slow)
    started(project, "trace")
    time.sleep(1)
    second = project.start(code)
    ran = [project.end(second), project.end(first)]
    assert ran[0].out.splitlines() == ["meanwhile False", "waited True"]
    assert [r.status for r in ran] == [0, 0]
    assert sum(r.compiles for r in ran) == 2


def test_a_child_of_fork_compiles(project: Project) -> None:
    code = """
        import app, os
        from jitcache.adapters import cute_dsl
        fn, args, more, options = app.job()
        cute_dsl.compile(fn, *args)
        pid = os.fork()
        if pid == 0:
            fn, args, more, options = app.job()
            print(cute_dsl.compile(fn, *args).hit, cute_dsl.compile(app.closed(9), *args).hit, flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    """
    ran = project.check(code)
    assert (ran.out, ran.compiles) == ("True False", 2)


def test_a_directory_that_cannot_be_written(project: Project) -> None:
    """The cache never fails the program: it compiles, and says why nothing is stored."""
    code = """
        import app, os
        from jitcache import Cache
        from jitcache.adapters import cute_dsl
        open(os.environ["HOME"] + "/file", "w").close()
        for key in ("traced", "source"):
            fn, args, more, options = app.job()
            result = cute_dsl.compile(fn, *args, key=key, cache=Cache(os.environ["HOME"] + "/file/cache"))
            print(result.hit, bool(result.reason), callable(result))
    """
    ran = project.check(code)
    assert ran.out.splitlines() == ["False True True"] * 2
    assert ran.compiles == 2


@pytest.mark.parametrize("env", [{"JITCACHE": "0"}, {"JITCACHE_LIBRARY": "/nonexistent.so"}], ids=["off", "no library"])
def test_off_and_without_the_library(project: Project, env: dict[str, str]) -> None:
    for key in ("traced", "source"):
        for _ in range(2):
            ran = project.check(ONE.format(key=key), **env)
            assert ran.compiles == 1
    assert not project.cache.exists()


def test_refresh_compiles_again_and_replaces(project: Project) -> None:
    assert [
        project.check(ONE.format(key="traced"), **env).compiles for env in ({}, {}, {"JITCACHE": "refresh"}, {})
    ] == [1, 0, 1, 0]
