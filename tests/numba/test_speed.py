"""What a warm call costs beside Numba's own, in rounds of one process each; the least of many, as others use the machine."""

from __future__ import annotations

import compileall
import shutil
import statistics

from project import ROOT, Project

FUNCTIONS = 24

# Making keys and looking once through all that is in Numba's modules takes 15 ms more than Numba's own cache does. Numba
# gets ready in 45 of 240 ms less, as it does not import again, 250 times, what it has imported.
FIRST = 1.0

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

# Seconds of this thread: for what Numba does once to get ready; for the rest of the first function, which pays for what is
# done once per process; and for each of the others. Python's collector runs where it runs; a run of its own may take more
# than the difference looked for.
TIME = f"""
    import a, gc, numpy, numpy.ma, time
    gc.disable()
    sig = (a.f0.typeof_pyval(numpy.ones(3)),)
    start = time.thread_time()
    a.f0.targetctx.refresh()
    print(time.thread_time() - start)
    for i in range({FUNCTIONS}):
        f = getattr(a, f"f{{i}}")
        start = time.thread_time()
        f.compile(sig)
        print(time.thread_time() - start)
"""

# The functions of ours that run while Numba gets ready, and after it; and how often Numba puts what is in a registry, and
# imports what it may need.
RUN = """
    import a, numpy, numpy.ma, sys
    sig = (a.f0.typeof_pyval(numpy.ones(3)),)
    found, puts, loads = [], [], []
    def profile(frame, event, arg):
        if event == "call" and "jitcache" in frame.f_code.co_filename:
            found.append(frame.f_code.co_name)
        elif event == "call" and frame.f_code.co_name == "install_registry":
            puts.append(frame)
        elif event == "call" and frame.f_code.co_name == "load_additional_registries":
            loads.append(frame)
    for part in (a.f0.targetctx.refresh, lambda: a.f0.compile(sig)):
        sys.setprofile(profile)
        part()
        sys.setprofile(None)
        print(*found)
        found.clear()
    print(len(puts))
    print(len(loads))
"""

# Why these start anew.
READY = "what Numba does to get ready is counted"

# Numba has 18 registries, some of which grow while they are installed. It asks each of them some 250 times.
PUTS = 400
# What its two contexts import, until one of them has done so once.
LOADS = 20


class Times:
    """The seconds that a process takes with one of the caches: to get ready, for its first function, and for another."""

    def __init__(self, project: Project, cache: str) -> None:
        self._project = project
        self._cache = cache
        self._ready: list[float] = []
        self._firsts: list[float] = []
        self._others: list[float] = []
        project.check(FILL, cache)

    def take(self, **env: str) -> None:
        ran = self._project.check(TIME, self._cache, fresh="it is timed", **env)
        assert ran.compiled == []
        ready, first, *others = map(float, ran.out.split())
        self._ready.append(ready)
        self._firsts.append(first)
        self._others.append(statistics.median(others))

    @property
    def ready(self) -> float:
        return min(self._ready)

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
    """Return our times by Numba's own, of a first and of another function; ends early when neither is more than it may be."""
    project.write(a=MODULE)
    install(project)
    ours, own = Times(project, "jitcache"), Times(project, "numba")
    first = other = 0.0
    for rounds in range(most):
        ours.take(**env)
        own.take()
        first, other = (ours.ready + ours.first) / (own.ready + own.first), ours.other / own.other
        if rounds >= 4 and first <= FIRST and other <= 1.0:
            break
    print(f"ready {ours.ready * 1e3:.1f} ms, Numba's own {own.ready * 1e3:.1f} ms")
    print(f"first {ours.first * 1e3:.1f} ms more, Numba's own {own.first * 1e3:.1f} ms")
    print(f"others {ours.other * 1e3:.2f} ms, Numba's own {own.other * 1e3:.2f} ms")
    return first, other


def test_warm_call_is_no_slower_than_numba_s_own(project: Project) -> None:
    first, other = compared(project, 20)
    assert other <= 1.0
    assert first <= FIRST


def test_nothing_of_ours_looks_up_anything_while_numba_gets_ready(project: Project) -> None:
    project.write(a=MODULE)
    project.check(FILL)
    ready, later, puts, loads = project.check(RUN, fresh=READY).out.splitlines()
    # Who puts something into Numba's contexts is asked each time, and registries whether they have something new. And
    # there is a wrapper that has nothing to do yet, for three models of data that Numba looks up. Numba makes a first
    # library for LLVM there.
    asked = ("put", "_is_put_by_others", "install_registry", "load_additional_registries", "<listcomp>")
    asked += ("add_ir_module", "add_llvm_module", "finalize")
    assert len([name for name in ready.split() if name not in asked]) <= 5
    assert "key_parts" in later.split()
    assert int(puts) <= PUTS
    assert int(loads) <= LOADS


def test_what_is_registered_later_is_installed(project: Project) -> None:
    """Also what is registered in the middle of an installation: registries are asked again once they have grown."""
    code = """
        import jitcache.adapters.numba
        jitcache.adapters.numba.install()
        import numba
        from numba import types
        from numba.core.typing.templates import AbstractTemplate, builtin_registry, signature
        from numba.extending import lower_builtin, overload

        def outer(x): pass
        def inner(x): pass
        def other(x): pass
        registered = []

        class Inner(AbstractTemplate):
            key = inner
            def generic(self, args, kws):
                return signature(args[0], *args)

        class Outer(Inner):
            key = outer
            def __init__(self, context):
                super().__init__(context)
                if not registered:
                    registered.append(Inner)
                    builtin_registry.register(Inner)
                    builtin_registry.register_global(inner, types.Function(Inner))
                    lower_builtin(inner, types.Any)(lambda context, builder, sig, args: args[0])

        def call(function):
            return numba.njit(lambda x: function(x) + 1)(1)

        @numba.njit
        def itself(x):
            return x
        print(call(itself))
        builtin_registry.register(Outer)
        builtin_registry.register_global(outer, types.Function(Outer))
        lower_builtin(outer, types.Any)(lambda context, builder, sig, args: args[0])
        print(call(outer), call(inner))
        overload(other)(lambda x: lambda x: x)
        print(call(other))
    """
    assert project.check(code).out.split() == ["2", "2", "2", "2"]


def test_without_remembering_what_is_registered_a_warm_call_is_slower(project: Project) -> None:
    _first, other = compared(project, 2, WITHOUT="remembering")
    assert other > 1.0


def test_without_knowing_what_is_installed_numba_asks_its_registries_again(project: Project) -> None:
    project.write(a=MODULE)
    puts, loads = map(int, project.check(RUN, WITHOUT="installed", fresh=READY).out.splitlines()[-2:])
    assert puts > 10 * PUTS
    assert loads > 10 * LOADS
