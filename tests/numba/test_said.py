"""What is said of Numba's compiles: counters, the time that hits save, log lines."""

from __future__ import annotations

import json
import re

import samples
from project import Project

SOURCE = """
    @numba.njit(cache=True)
    def inner(x):
        return x + K
    @numba.njit(cache=True)
    def outer(x):
        return inner(x) * 2
    K = 1
"""
USE = "import m, jitcache; print(m.outer(1)); jitcache.default_cache().flush()"
STATS = "import jitcache, json; print(json.dumps(jitcache.Cache().stats()['kinds']))"


def counters(project: Project) -> dict[str, float]:
    """Return the counters of Numba's entries, over all processes."""
    kinds = json.loads(project.run(STATS).out)
    assert all(kind == "numba" or kind.startswith("_") for kind in kinds), kinds
    found: dict[str, float] = kinds["numba"]
    return found


def test_each_compile_is_one_miss_that_is_timed(project: Project) -> None:
    project.write(m=SOURCE)
    ran = project.run(USE)
    assert sorted(ran.compiled) == ["inner", "outer"]
    cold = counters(project)
    assert (cold["misses"], cold["compiles"], cold["puts"], cold["hits_disk"]) == (2, 2, 2, 0), cold
    assert cold["compile_seconds"] > 0.01


def test_hit_saves_what_the_compile_took(project: Project) -> None:
    project.write(m=SOURCE)
    project.run(USE)
    cold = counters(project)
    assert project.run(USE).compiled == []
    warm = counters(project)
    assert (warm["misses"], warm["compiles"]) == (2, 2), warm
    # outer's compile contains inner's, and inner is not looked up.
    assert 0.5 * cold["compile_seconds"] <= warm["saved_seconds"] <= cold["compile_seconds"], warm


def test_compile_that_starts_over_is_a_compile_and_no_miss(project: Project) -> None:
    project.write(m=SOURCE)
    project.run(USE)
    ran = project.run("import m\nm.outer.recompile()\nm.outer(1)\n" + USE)
    assert ran.compiled
    assert counters(project)["misses"] == 2


def lines(text: str) -> list[str]:
    """Return the log's lines about misses, without what differs from run to run."""
    found = re.findall(r"^jitcache\[\d+\] miss: .*", text, re.MULTILINE)
    return [re.sub(r"\[\d+\]| \([0-9a-f]{12}\)|since [-0-9]+ [:0-9]+: ", "", line) for line in found]


def missed(project: Project, without: str = "") -> list[str]:
    return lines(project.run(USE, JITCACHE_LOG="miss", WITHOUT=without).err)


def test_miss_names_the_function_and_what_has_changed(project: Project) -> None:
    project.write(m=SOURCE)
    assert missed(project) == [
        "jitcache miss: m.outer(int64) by source: absent",
        "jitcache miss: m.inner(int64) by source: absent",
    ]
    assert missed(project) == []
    project.write(m=SOURCE.replace("* 2", "* 3"))
    assert missed(project) == ["jitcache miss: m.outer(int64) by source: absent; changed function"]
    project.write(m=SOURCE.replace("* 2", "* 3").replace("K = 1", "K = 2"))
    assert missed(project) == [
        "jitcache miss: m.outer(int64) by source: absent; changed global inner",
        lines(samples.under("docs/numba.md", "What is counted"))[0],
    ]


def test_miss_names_what_the_compile_had_looked_at(project: Project) -> None:
    project.write(
        m="""
        import values
        from numba.extending import overload
        def ten(x):
            return None
        @overload(ten)
        def _(x):
            k = values.K
            return lambda x: x * k
        @numba.njit(cache=True)
        def outer(x):
            return ten(x)
        """,
        values="K = 1",
    )
    assert missed(project, "others")
    project.write(values="K = 2")
    assert missed(project, "others") == lines(samples.under("docs/numba.md", "What is counted"))[1:]
