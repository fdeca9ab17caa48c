"""What a warm call costs beside Numba's own, in rounds of one process each; the least of many, as others use the machine."""

from __future__ import annotations

import compileall
import shutil
import statistics

from project import ROOT, Project

FUNCTIONS = 24

MODULE = """
import numba
@numba.njit
def helper(x):
    return x * SCALE
SCALE = 3.0
""" + "".join(
    f"""
@numba.njit(cache=True)
def f{i}(x):
    s = {i}.0
    for i in range(x.size):
        s += helper(x[i])
    return s
"""
    for i in range(FUNCTIONS)
)

FILL = f"""
    import a, numpy
    for i in range({FUNCTIONS}):
        getattr(a, f"f{{i}}")(numpy.ones(3))
"""

# Seconds of this thread, for the first function, which pays for what is done once per process, and for each of the
# others. Python's collector runs where it runs; a run of its own may take more than the difference looked for.
TIME = f"""
    import a, gc, numpy, numpy.ma, time
    gc.disable()
    sig = (a.f0.typeof_pyval(numpy.ones(3)),)
    for i in range({FUNCTIONS}):
        f = getattr(a, f"f{{i}}")
        start = time.thread_time()
        f.compile(sig)
        print(time.thread_time() - start)
"""


class Times:
    """The seconds that a process takes with one of the caches: for its first function, and for one of the others."""

    def __init__(self, project: Project, cache: str) -> None:
        self._project = project
        self._cache = cache
        self._firsts: list[float] = []
        self._others: list[float] = []
        project.check(FILL, cache)

    def take(self, **env: str) -> None:
        ran = self._project.check(TIME, self._cache, **env)
        assert ran.compiled == []
        first, *others = map(float, ran.out.split())
        self._firsts.append(first)
        self._others.append(statistics.median(others))

    @property
    def first(self) -> float:
        return min(self._firsts)

    @property
    def other(self) -> float:
        return min(self._others)


def install(project: Project) -> None:
    """Put the package where the project's processes find it first, with its bytecode, as Numba is installed with its own."""
    package = project.folder / "jitcache"
    shutil.copytree(ROOT / "python" / "jitcache", package, ignore=shutil.ignore_patterns("__pycache__"))
    assert compileall.compile_dir(package, quiet=1)


def compared(project: Project, most: int, **env: str) -> tuple[float, float]:
    """Return our times by Numba's own, of a first and of another function; ends early when neither is more."""
    project.write(a=MODULE)
    install(project)
    ours, own = Times(project, "jitcache"), Times(project, "numba")
    for rounds in range(most):
        ours.take(**env)
        own.take()
        if rounds >= 2 and ours.first <= own.first and ours.other <= own.other:
            break
    print(f"first {ours.first * 1e3:.1f} ms, Numba's own {own.first * 1e3:.1f} ms")
    print(f"others {ours.other * 1e3:.2f} ms, Numba's own {own.other * 1e3:.2f} ms")
    return ours.first / own.first, ours.other / own.other


def test_warm_call_is_no_slower_than_numba_s_own(project: Project) -> None:
    first, other = compared(project, 20)
    assert other <= 1.0
    # Opening the cache and looking once through all that is registered takes 9 ms of the 230 that Numba takes to get ready.
    assert first <= 1.05


def test_without_remembering_what_is_registered_a_warm_call_is_slower(project: Project) -> None:
    _first, other = compared(project, 2, WITHOUT="remembering")
    assert other > 1.0
