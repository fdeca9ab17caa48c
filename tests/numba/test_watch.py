"""What the watch of a compile leaves as it is: what others put in Python's places, and forked children."""

from __future__ import annotations

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
    import functools, warnings
    import numba, jitcache.adapters.numba
    from numba.core import errors
    from jitcache.adapters.numba import _watch
    jitcache.adapters.numba.install()
    def standing():
        return {(owner, name): getattr(owner, name) for owner, name, _ in _watch.WARNINGS}
    def put(what):
        for (owner, name), function in what.items():
            setattr(owner, name, function)
    def differ(one, other):
        return [name for owner, name in one if one[owner, name] is not other[owner, name]]
    before = standing()
"""


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
        warnings.warn(f"{n}")
        warnings.warn_explicit(f"{n}", UserWarning, "", n)
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
    print(differ(before, ours) == [name for _, name in before])
    with _watch.watching():
        pass
    print(differ(before, standing()))
    """
    )
    assert project.check(code).out.splitlines() == ["True", "[]"]


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
