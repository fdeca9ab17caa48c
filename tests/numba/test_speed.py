"""What a warm call costs: our part, and the whole beside Numba's own."""

from __future__ import annotations

from project import Project

MODULE = """
import numba
@numba.njit
def helper(x):
    return x * SCALE
SCALE = 3.0
@numba.njit(cache=True)
def f(x):
    s = 0.0
    for i in range(x.size):
        s += helper(x[i])
    return s
@numba.njit(cache=True)
def g(x):
    s = 0.0
    for i in range(x.size):
        s -= helper(x[i])
    return s
"""

# The first function pays for what is done once per process; the second is measured. Our part is what is
# done to find the entry and to read it, without what Numba does with it and the refresh that it does first.
TIME = """
    import a, numpy, numpy.ma, time, os
    x = numpy.ones(3)
    a.f(x)
    seconds = {}
    def timed(owner, name):
        function = getattr(owner, name)
        def wrapper(*args, **more):
            start = time.perf_counter()
            try:
                return function(*args, **more)
            finally:
                seconds[name] = seconds.get(name, 0) + time.perf_counter() - start
        setattr(owner, name, wrapper)
    if os.environ["CACHE"] == "jitcache" and os.environ.get("PARTS"):
        from jitcache.adapters.numba import _entry as entry, _overloads as overloads
        timed(type(a.g.targetctx), "refresh")
        timed(type(a.g.targetctx), "get_executable")
        timed(entry, "_revive")
        timed(overloads.Overloads, "_look_up")
        timed(overloads.Overloads, "_load")
    sig = (a.g.typeof_pyval(x),)
    start = time.perf_counter()
    a.g.compile(sig)
    whole = time.perf_counter() - start
    part = sum(seconds.get(n, 0) for n in ("_look_up", "_load")) - sum(seconds.get(n, 0) for n in ("refresh", "_revive", "get_executable"))
    print(whole * 1e3, part * 1e3)
"""


def measure(project: Project, cache: str, **env: str) -> tuple[float, float]:
    ran = project.check(TIME, cache, **env)
    whole, part = map(float, ran.out.split())
    assert ran.compiled == []
    return whole, part


def test_warm_call_is_no_slower_than_numba_s_own(project: Project) -> None:
    project.write(a=MODULE)
    for cache in ("jitcache", "numba"):
        project.check("import a, numpy; a.f(numpy.ones(3)); a.g(numpy.ones(3))", cache)
    whole: dict[str, list[float]] = {"jitcache": [], "numba": []}
    parts: list[float] = []
    # The least of several: other programs of the machine make single ones slower, so that it takes more of them.
    for rounds in range(30):
        for cache, found in whole.items():
            found.append(measure(project, cache)[0])
        parts.append(measure(project, "jitcache", PARTS="1")[1])
        best = {cache: min(found) for cache, found in whole.items()}
        if rounds >= 5 and best["jitcache"] <= best["numba"] and min(parts) <= best["numba"] / 2:
            break
    print(f"warm call: {best['jitcache']:.2f} ms, Numba's own {best['numba']:.2f} ms; our part {min(parts):.2f} ms")
    assert best["jitcache"] <= best["numba"]
    assert min(parts) <= best["numba"] / 2
