"""Damage, crashes and races: a miss that is repaired, where Numba's own raises, crashes or is wrong."""

from __future__ import annotations

import shutil

import numba
import pytest
from project import Project

VERSION = tuple(int(n) for n in numba.__version__.split(".")[:2])
F = "@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n"
CALL = "import a; print(a.f(1))"


def damage(data: bytes, how: str) -> bytes:
    if how == "flipped":
        at = len(data) // 2
        return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]
    return data[: len(data) // 2] if how == "truncated" else b""


@pytest.mark.parametrize("how", ["flipped", "truncated", "empty"])
def test_damaged_entry_is_a_miss_and_repaired(project: Project, how: str) -> None:
    project.write(a=F)
    project.check(CALL)
    for path in project.cache.rglob("*.jce"):
        path.write_bytes(damage(path.read_bytes(), how))
    assert [project.check(CALL).compiled for _ in range(2)] == [["f"], []]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_file_of_numba_s_own_raises_for_good(project: Project, suffix: str) -> None:
    project.write(a=F)
    project.check(CALL, "numba")
    for path in project.folder.rglob(f"*.{suffix}"):
        path.write_bytes(damage(path.read_bytes(), "truncated"))
    assert [project.run(CALL, "numba").status for _ in range(2)] == [1, 1]


UNLOADABLE = """
    import pickle
    from jitcache.adapters.numba import _entry as entry
    def refuse(data, *args):
        raise pickle.UnpicklingError("no such class")
    if {when}:
        entry.pickle.Unpickler.load
        import jitcache.adapters.numba._overloads as overloads
        overloads.load_result = refuse
    import a
    print(a.f(1), __import__("jitcache.adapters.numba").adapters.numba.uncached())
"""


def test_intact_entry_that_cannot_be_loaded_is_a_miss_and_replaced(project: Project) -> None:
    project.write(a=F)
    project.check(CALL)
    ran = project.check(UNLOADABLE.format(when=True))
    assert (ran.out, ran.compiled) == ("2 {'entry cannot be loaded': 1}", ["f"])
    assert project.run(UNLOADABLE.format(when=True), WITHOUT="guard").status == 1
    assert project.check(CALL).compiled == []


def test_directory_that_is_removed_while_it_is_used(project: Project) -> None:
    """Numba's own notices only where it cannot make the directory again."""
    project.write(a=F, b=F)
    code = """
        import a, b, os, shutil
        print(a.f(1))
        for place in (os.environ["JITCACHE_DIR"], os.environ["PROJECT"] + "/__pycache__"):
            shutil.rmtree(place, ignore_errors=True)
        open(os.environ["PROJECT"] + "/__pycache__", "w").close()
        print(b.f(1), a.f(1.5))
    """
    assert project.check(code).out == "2\n2 2.5"
    (project.folder / "__pycache__").unlink()
    assert project.run(code, "numba").status == 1


RACE = """
    import a, os, time
    from numba.core import caching
    if os.environ["CACHE"] == "numba":
        # Nothing of the logic is changed: both have read the index before either writes it.
        save = caching.IndexDataCacheFile._save_index
        def wait_and_save(self, overloads):
            open(os.environ["PROJECT"] + f"/at-{os.environ['N']}", "w").close()
            while sum(n.startswith("at-") for n in os.listdir(os.environ["PROJECT"])) < 2:
                time.sleep(0.01)
            time.sleep(0.5 * int(os.environ["N"]))
            save(self, overloads)
        caching.IndexDataCacheFile._save_index = wait_and_save
    print(a.f([1, 2.5][int(os.environ["N"])]))
"""


def test_two_processes_that_store_two_signatures_at_once(project: Project) -> None:
    """Numba's own keeps one index for both, in which one of them points to the other's code."""
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + x\n")
    look = "import a; print(a.f(1), a.f(2.5), sum(a.f.stats.cache_hits.values()))"
    for cache in ("jitcache", "numba"):
        for p in [project.start(RACE, cache, N=str(n)) for n in range(2)]:
            assert project.end(p).status == 0
        ran = project.check(look, cache)
        if cache == "jitcache":
            assert ran.out == "2 5.0 2"
        else:
            assert ran.out != "2 5.0 2"


def test_process_that_is_killed_while_it_stores(project: Project) -> None:
    """Numba's own has then written the stamp of the new source beside the code of the old."""
    kill = """
        import os
        if os.environ["CACHE"] == "jitcache":
            from jitcache.adapters.numba import _overloads
            _overloads.dump_result = lambda *a: os._exit(9)
        else:
            from numba.core import caching
            caching.IndexDataCacheFile._save_data = lambda *a: os._exit(9)
        import a
        a.f(1)
    """
    for cache, second in (("jitcache", "101"), ("numba", "2")):
        project.write(a=F)
        assert project.check(CALL, cache).out == "2"
        project.write(a=F.replace("+ 1", "+ 100"))
        assert project.run(kill, cache).status == 9
        assert project.check(CALL, cache).out == second, cache


def test_a_class_that_is_gone_breaks_no_other_signature(project: Project) -> None:
    types = "import collections\nP = collections.namedtuple('P', 'x')\n"
    for cache, status in (("jitcache", 0), ("numba", 1)):
        project.write(t=types, a="@numba.njit(cache=True)\ndef f(x):\n    return 1\n")
        project.check("import a, t; a.f(t.P(1)); a.f(1)", cache)
        project.write(t="")
        ran = project.run("import a; print(a.f(1))", cache)
        assert ran.status == status, ran.err
        if cache == "jitcache":
            assert (ran.out, ran.compiled) == ("1", [])


FACTORY = """
import numba
def make(k):
    @numba.njit(cache=True)
    def f(x):
        return x + k
    return f
three, thousand = make(3), make(1000)
@numba.njit
def both(x):
    return three(x), thousand(x)
"""


def test_symbols_of_two_processes(project: Project) -> None:
    """Numba numbers functions from 1 in each process; two closures, of two processes, then have one name."""
    for without, right in (("", True), ("random ids", False)):
        shutil.rmtree(project.cache, ignore_errors=True)
        project.write(a=FACTORY)
        project.check("import a; a.three(1)", WITHOUT=without)
        project.check("import a; a.thousand(1)", WITHOUT=without)
        ran = project.run("import a; print(a.both(10))", WITHOUT=without)
        assert (ran.out == "(13, 1010)") is right
    project.check("import a; a.three(1)", "numba")
    project.check("import a; a.thousand(1)", "numba")
    assert project.run("import a; print(a.both(10))", "numba").out != "(13, 1010)"


PARALLEL = """
import numba, numpy
@numba.njit(cache=True, parallel=True)
def inner(x):
    s = 0.0
    for i in numba.prange(x.size):
        s += x[i]
    return s
@numba.njit(cache=True)
def outer(x):
    return inner(x) + 1
"""


def test_parallel_code_that_a_caller_brings_along(project: Project) -> None:
    """Numba's own forgets to start the threads when it loads only the caller, and crashes."""
    steps = ["import a, numpy; print(a.inner(numpy.ones(9)))", *["import a, numpy; print(a.outer(numpy.ones(9)))"] * 2]
    for cache, without, right in (("jitcache", "", True), ("jitcache", "reloads,symbols", False), ("numba", "", False)):
        shutil.rmtree(project.cache, ignore_errors=True)
        project.write(a=PARALLEL)
        ran = [project.run(step, cache, WITHOUT=without, NUMBA_NUM_THREADS="2") for step in steps]
        assert (ran[2].status == 0 and ran[2].out == "10.0") is right, (cache, ran)


def test_functions_that_move_leave_nothing_behind(project: Project) -> None:
    for cache, pattern, most in (("jitcache", "*.jce", 3), ("numba", "*.nbi", 4)):
        for n in range(4):
            project.write(a="#\n" * n + F)
            project.check(CALL, cache)
        # Ours: the entry, what its compile looked at, and the list of CPUs.
        assert len(list(project.folder.parent.rglob(pattern))) == most


GENERAL = """
import numba
@numba.guvectorize(["void(f8[:],f8[:])"], "(n)->(n)", cache=True)
def general(x, out):
    for i in range(x.size):
        out[i] = x[i] + 1
"""


def test_loop_of_a_gufunc_goes_with_its_kernel(project: Project) -> None:
    """The loop calls the kernel by its symbol, so that one of another kernel would call nothing, or something else."""
    call = "import a, numpy; print(a.general(numpy.ones(2)))"
    lose_the_kernel = """
        import os, jitcache.adapters.numba as j
        lost = [os.unlink(e["path"]) for e in j.entries() if e["attributes"]["how"] == "ufunc"]
        assert len(lost) == 1
    """
    for without, right in (("", True), ("kernel", False)):
        shutil.rmtree(project.cache, ignore_errors=True)
        project.write(a=GENERAL)
        project.check(call, WITHOUT=without)
        project.check(lose_the_kernel)
        ran = project.run(call, WITHOUT=without)
        assert (ran.status == 0 and ran.out == "[2. 2.]") is right, ran
        if right:
            assert ran.compiled == ["general"]
            assert project.check(call).compiled == []


def test_code_whose_symbols_are_not_there_is_compiled(project: Project) -> None:
    """An intrinsic gives LLVM a function by name while it is compiled; who only loads the code has none, and LLVM ends the process."""
    project.write(
        a="""
        import llvmlite.binding
        from llvmlite import ir
        from numba.core import cgutils, types
        from numba.extending import intrinsic
        def names_it():
            llvmlite.binding.add_symbol("somebody_s_own", llvmlite.binding.address_of_symbol("labs"))
        @intrinsic
        def h(context, x):
            def make(context, builder, signature, args):
                names_it()
                kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
                function = cgutils.get_or_insert_function(builder.module, kind, "somebody_s_own")
                return builder.call(function, args)
            return types.int64(types.int64), make
        @numba.njit(cache=True)
        def f(x):
            return h(x)
     """
    )
    call = "import a; {}; print(a.f(-5))\nfrom jitcache.adapters import numba as j; print(j.uncached())"
    for without, right in (("others", True), ("others,symbols", False)):
        shutil.rmtree(project.cache, ignore_errors=True)
        assert project.check(call.format("0"), WITHOUT=without).out == "5\n{}"
        ran = project.run(call.format("0"), WITHOUT=without)
        assert (ran.out == "5\n{'entry cannot be loaded': 1}") is right, ran
        named = project.check(call.format("a.names_it()"), WITHOUT=without)
        assert (named.out, named.compiled) == ("5\n{}", [])
