"""What the watch of a compile leaves as it is: others' finders, what they put in Python's places, forked children."""

from __future__ import annotations

import pytest
from project import Project

OVERLOAD = """
import sys, importlib.util
from numba.extending import overload
def h(x):
    raise NotImplementedError
@overload(h)
def over(x):
    BODY
    return lambda x: x * k
@numba.njit(cache=True)
def f(x):
    return h(x)
@numba.njit(cache=True)
def g(x):
    return x + 1
"""


PLACES = """
    import functools, importlib, json, os, threading, warnings
    import numba, jitcache.adapters.numba
    from numba.core import errors
    from jitcache.adapters.numba import _watch
    jitcache.adapters.numba.install()
    def standing():
        return {(owner, name): getattr(owner, name) for owner, name, _ in _watch.READS}
    def put(what):
        for (owner, name), function in what.items():
            setattr(owner, name, function)
    def differ(one, other):
        return [name for owner, name in one if one[owner, name] is not other[owner, name]]
    before = standing()
"""


def test_whoever_goes_through_the_finders_meanwhile_misses_none(project: Project) -> None:
    """As an import in another thread does; one that is taken out makes it skip the next."""
    code = (
        PLACES
        + """
    import sys
    theirs = list(sys.meta_path)
    with _watch.watching():
        passes = [iter(sys.meta_path) for _ in sys.meta_path]
        asked = [[f for _, f in zip(range(n), one)] for n, one in enumerate(passes)]
    met = [known + list(one) for known, one in zip(asked, passes)]
    print(len(met) >= len(theirs), [f for one in met for f in theirs if f not in one])
    """
    )
    assert project.check(code).out == "True []"


@pytest.mark.parametrize("without", ["", "world"])
def test_what_another_finder_finds_first_was_looked_for_too(project: Project, without: str) -> None:
    """It came to the front after an earlier compile."""
    project.write(a=OVERLOAD.replace("BODY", "k = 2 if importlib.util.find_spec('mine') else 1"))
    code = """
        import a, importlib.machinery, sys
        a.g(1), a.g(1.0)
        sys.meta_path.insert(0, importlib.machinery.PathFinder)
        print(a.f(1))
    """
    mine = project.folder / "mine.py"
    mine.write_text("")
    without = without and f"others,{without}"
    assert project.check(code, WITHOUT=without).out == "2"
    mine.unlink()
    assert project.check(code.replace("1.0", "1.0j"), WITHOUT=without).out == ("2" if without else "1")


def test_what_others_put_in_a_place_meanwhile_stays(project: Project) -> None:
    code = (
        PLACES
        + """
    called = []
    def around(name, function):
        @functools.wraps(function)
        def theirs(*args, **more):
            called.append(name)
            return function(*args, **more)
        return theirs
    with _watch.watching():
        theirs = {(owner, name): around(name, f) for (owner, name), f in standing().items()}
        put(theirs)
    print(differ(standing(), theirs))
    for n in range(2):
        called.clear()
        os.stat("."), os.access(".", os.R_OK), os.lstat("."), os.getcwd(), os.environ["HOME"], list(os.environ), len(os.environ), repr(os.environ)
        os.path.islink(".") or os.readlink("/proc/self/exe")
        number, into = os.open("/proc/self/exe", 0), [bytearray(1)]
        os.getcwdb(), os.fstat(number), os.read(number, 1), os.pread(number, 1, 0)
        os.readv(number, into), os.preadv(number, into, 0), os.close(number)
        importlib.import_module("json"), __import__("json"), warnings.warn(f"{n}")
        warnings.warn_explicit(f"{n}", UserWarning, "", n), threading.Thread(target=int).start()
        errors.WarningsFixer(UserWarning).catch_warnings()
        print(len({name for _, name in theirs} - set(called)))
        with _watch.watching():
            pass
        print(differ(standing(), theirs))
    """
    )
    assert project.check(code).out.splitlines() == ["[]", "0", "[]", "0", "[]"]


def test_ours_that_others_put_back_later_is_taken_away(project: Project) -> None:
    """As a patch of a test does that began while a compile went on."""
    code = (
        PLACES
        + """
    with _watch.watching():
        ours = standing()
    put(ours)
    print(differ(before, ours) == [name for _, name in before], len(os.listdir(".")) == len(list(os.scandir("."))))
    with _watch.watching():
        pass
    print(differ(before, standing()))
    """
    )
    assert project.check(code).out.splitlines() == ["True True", "[]"]


def test_locks_that_a_fork_finds_held_are_free_in_the_child(project: Project) -> None:
    project.write(a=OVERLOAD.replace("BODY", "k = 2"))
    code = """
        import a, os, sys
        from jitcache._fork import ForkLock
        a.f(1)
        def locks():
            ours = [m for n, m in sys.modules.items() if n.startswith("jitcache")]
            return {f"{m.__name__}.{n}": v() for m in ours for n, v in vars(m).items() if type(v) is ForkLock}
        def take(lock):
            return lock.acquire(blocking=False)
        held = locks()
        assert all(map(take, held.values()))
        if os.fork() == 0:
            left = [name for name, lock in locks().items() if not take(lock)]
            for lock in locks().values():
                lock.release()
            print(left, "hangs" if left else a.f(1.0), flush=True)
            os._exit(0)
        assert os.wait()[1] == 0
        print("jitcache.adapters.numba._lock" in held, "jitcache.adapters.numba._hooks._lock" in held)
    """
    assert project.check(code).out.splitlines() == ["[] 2.0", "True True"]


def test_an_interrupt_of_a_look_of_ours_leaves_what_is_read_seen(project: Project) -> None:
    """What ours does is not noted, and Ctrl-C may come in the middle of it."""
    code = """
        import jitcache.adapters.numba
        jitcache.adapters.numba.install()
        from jitcache.adapters.numba import _contexts
        from jitcache.adapters.numba._seen import here
        from numba.core.registry import cpu_target
        def interrupted(path):
            raise KeyboardInterrupt
        _contexts.versioned = interrupted
        try:
            cpu_target.typing_context.insert_user_function("another", None)
        except KeyboardInterrupt:
            print("interrupted", here.quiet)
    """
    assert project.check(code).out == "interrupted False"
