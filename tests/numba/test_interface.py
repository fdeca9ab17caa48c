"""What a program says: install, decorators, one variable; what they cover and what they leave alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numba
import pytest
from project import ROOT, Project

VERSION = tuple(int(n) for n in numba.__version__.split(".")[:2])
ALL = """
    import numba, numpy
    @numba.njit(cache=True)
    def lazy(x):
        return x + 1
    @numba.njit("int64(int64)", cache=True)
    def eager(x):
        return x + 1
    @numba.jit(cache=True, forceobj=True)
    def in_objects(x):
        return x + 1
    @numba.njit(cache=True, parallel=True)
    def parallel(x):
        return (x + 1).sum()
    @numba.vectorize(["f8(f8)", "i8(i8)"], cache=True)
    def vector(x):
        return x + 1
    @numba.vectorize(cache=True)
    def dynamic_vector(x):
        return x + 1
    @numba.vectorize(["f8(f8)"], target="parallel", cache=True)
    def parallel_vector(x):
        return x + 1
    @numba.guvectorize(["void(f8[:],f8[:])"], "(n)->(n)", cache=True)
    def general(x, out):
        for i in range(x.size):
            out[i] = x[i] + 1
    @numba.guvectorize("(n)->(n)", cache=True)
    def dynamic_general(x, out):
        for i in range(x.size):
            out[i] = x[i] + 1
    @numba.cfunc("f8(f8)", cache=True)
    def callback(x):
        return x + 1
    def use():
        ones = numpy.ones(3)
        out = numpy.zeros(3)
        dynamic_general(ones, out)
        values = [lazy(1), eager(1), in_objects(1), parallel(ones) / 3, vector(ones)[0], vector(numpy.array([1]))[0]]
        values += [dynamic_vector(ones)[0], parallel_vector(ones)[0], general(ones)[0], out[0], callback.ctypes(1.0)]
        return sorted({float(v) for v in values})
"""
NAMES = {"lazy", "eager", "in_objects", "parallel", "vector", "dynamic_vector", "parallel_vector", "general", "dynamic_general", "callback"}  # fmt: skip


def ours(names: list[str]) -> set[str]:
    """The functions of a module that were compiled, without what parallel makes of them."""
    return {n for n in names if not n.startswith("__numba")}


def check_all(project: Project, code: str, cache: str = "jitcache", **env: str) -> None:
    first = project.check(code, cache, **env)
    assert (first.out, ours(first.compiled)) == ("[2.0]", NAMES)
    second = project.check(code, cache, **env)
    assert (second.out, second.compiled) == ("[2.0]", [])
    assert not list(project.folder.rglob("*.nb[ic]"))
    assert not list(project.home.rglob("*.nb[ic]"))


def test_install_covers_everything(project: Project) -> None:
    project.write(a=ALL)
    check_all(project, "import a; print(a.use())")


def test_install_after_the_functions_were_decorated(project: Project) -> None:
    """Those that are compiled by their decorators are Numba's; all others are taken over."""
    project.write(a=ALL)
    code = "import a; import jitcache.adapters.numba as j; j.install(); print(a.use())"
    project.check(code, "numba")
    left = ours(project.check("import a; print(a.use())").compiled)
    assert left == {"eager", "vector", "parallel_vector", "general", "callback"}


@pytest.mark.skipif(VERSION < (0, 62), reason="NUMBA_CACHE_LOCATOR_CLASSES came with 0.62")
def test_a_variable_covers_everything(project: Project) -> None:
    project.write(a=ALL)
    check_all(
        project, "import a; print(a.use())", "none", NUMBA_CACHE_LOCATOR_CLASSES="jitcache.adapters.numba.Locator"
    )


@pytest.mark.skipif(VERSION < (0, 62), reason="NUMBA_CACHE_LOCATOR_CLASSES came with 0.62")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_variable_covers_the_first_function(project: Project, name: str) -> None:
    """Numba asks the locator when the first function is decorated, and that one has its own cache by then."""
    body = textwrap.dedent(ALL).split("def use")[0]
    project.write(a="import numpy\n" + next("@" + p for p in body.split("\n@") if f"def {name}(" in p))
    calls = {
        "callback": "callback.ctypes(1.0)",
        "dynamic_general": "dynamic_general(numpy.ones(3), numpy.ones(3))",
        **{scalar: f"{scalar}(1)" for scalar in ("lazy", "eager", "in_objects")},
    }
    code = f"import a, numpy; a.{calls.get(name, f'{name}(numpy.ones(3))')}"
    env = {"NUMBA_CACHE_LOCATOR_CLASSES": "jitcache.adapters.numba.Locator"}
    assert ours(project.check(code, "none", **env).compiled) == {name}
    assert project.check(code, "none", **env).compiled == []


def test_decorators_of_ours(project: Project) -> None:
    """Each of them, without install; a function of Numba's own decorators beside them is left alone."""
    text = ALL.replace("@numba.", "@ours.").replace(", cache=True", "").replace("(cache=True)", "")
    project.write(a="import jitcache.adapters.numba as ours\n" + text.replace("\n    ", "\n"))
    check_all(project, "import a; print(a.use())", "none")
    project.write(b="import a\n@numba.njit(cache=True)\ndef other(x):\n    return x")
    project.check("import b; b.other(1)", "none")
    assert list((project.folder / "__pycache__").glob("b.other*.nbi"))


def test_only_what_asks_is_cached_unless_one_says_everything(project: Project) -> None:
    project.write(a="@numba.njit\ndef f(x):\n    return x + 1\n")
    code = "import a, jitcache.adapters.numba as j; j.install(everything={}); a.f(1); print(j.count())"
    assert [project.check(code.format(False)).out for _ in range(2)] == ["0", "0"]
    assert [project.check(code.format(True)).compiled for _ in range(2)] == [["f"], []]


def test_uninstall(project: Project) -> None:
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n")
    project.check("import jitcache.adapters.numba as j; j.uninstall(); import a; a.f(1); print(j.count())")
    assert list(project.folder.rglob("*.nbi"))


def test_directory_of_numba_is_the_root(project: Project) -> None:
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n")
    root = project.folder.parent / "numba-cache"
    assert [project.check("import a; a.f(1)", NUMBA_CACHE_DIR=str(root)).compiled for _ in range(2)] == [["f"], []]
    assert list(root.rglob("*.jce"))
    assert not project.cache.exists()
    # What Numba has left there is in nobody's way.
    project.check("import a; a.f(1)", "numba", NUMBA_CACHE_DIR=str(root))
    assert project.check("import a; a.f(1)", NUMBA_CACHE_DIR=str(root)).compiled == []
    # And a cache that is given is the one.
    given = "import jitcache, jitcache.adapters.numba as j; j.install(jitcache.Cache({!r})); import a; a.f(1)"
    assert project.check(given.format(str(project.cache)), NUMBA_CACHE_DIR=str(root)).compiled == ["f"]


def test_count_entries_and_clear_see_only_their_own(project: Project) -> None:
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n")
    code = """
        import a, jitcache, json, jitcache.adapters.numba as j
        jitcache.default_cache().put(jitcache.Key(n=1), b"other")
        a.f(1), a.f(1.5)
        print(json.dumps([j.count(), [e["attributes"] for e in j.entries()]]))
        j.clear()
        print(j.count(), len(jitcache.default_cache()))
    """
    first, second = project.check(code).out.splitlines()
    count, attributes = json.loads(first)
    assert count == 2
    assert {(a["function"], a["line"], a["how"], a["types"]) for a in attributes} == {
        ("a.f", 2, "jit", "int64"), ("a.f", 2, "jit", "float64"),
    }  # fmt: skip
    assert second == "0 1"


def test_what_changed_is_said(project: Project) -> None:
    for value in (1, 5):
        project.write(conf=f"Z = {value}", a="from conf import Z\n@numba.njit(cache=True)\ndef f(x):\n    return x + Z")
        project.check("import a; a.f(1)")
    command = [sys.executable, "-m", "jitcache", "explain", "a.f(int64)"]
    said = subprocess.run(command, env=project.environment("none"), capture_output=True, text=True, check=True).stdout
    assert [line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("difference")] == [
        "changed global Z"
    ]


def test_recompile_compiles_and_replaces(project: Project) -> None:
    project.write(a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n")
    project.check("import a; a.f(1); a.f(1.5)")
    ran = project.check("import a; a.f(1); a.f(1.5); a.f.recompile(); print(a.f(1), a.f(1.5))")
    assert (ran.out, ran.compiled) == ("2 2.5", ["f", "f"])
    assert project.check("import a; a.f(1); a.f(1.5)").compiled == []


def test_off_and_without_the_library(project: Project) -> None:
    project.write(a=ALL)
    for env in ({"JITCACHE": "0"}, {"JITCACHE_LIBRARY": "/nonexistent.so"}):
        for _ in range(2):
            ran = project.check("import a; print(a.use())", **env)
            assert (ran.out, ours(ran.compiled)) == ("[2.0]", NAMES)
    assert not project.cache.exists()


def test_numba_is_imported_when_it_is_needed() -> None:
    code = "import sys, jitcache.adapters.numba; print('numba' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    assert subprocess.check_output([sys.executable, "-c", code], env=env, text=True) == "False\n"


def test_fork_in_the_middle(project: Project) -> None:
    """A child has a cache of its own, and numbers of its own."""
    project.write(
        a="@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n@numba.njit(cache=True)\ndef g(x):\n    return x + 2\n"
    )
    code = """
        import a, os
        a.f(1)
        pid = os.fork()
        if pid == 0:
            print(a.f(1), a.g(1), flush=True)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print(a.f(1), a.g(1))
    """
    ran = project.check(code)
    assert ran.out.splitlines() == ["2 3", "2 3"]
    assert sorted(ran.compiled) == ["f", "g"]


def test_doctor_says_that_numba_cuda_is_not_covered(project: Project) -> None:
    command = [sys.executable, "-m", "jitcache", "doctor"]
    env = project.environment("none")
    assert "numba-cuda" not in subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    project.write(numba_cuda="")
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert "numba-cuda    not covered" in said.splitlines()[-1]
    as_json = subprocess.run([*command, "-json"], env=env, capture_output=True, text=True, check=True).stdout
    assert "numba-cuda" not in json.loads(as_json)


def test_functions_are_cached_in_fips_mode(project: Project) -> None:
    """There Python has SHA-1 and SHA-2, and refuses other hashes."""
    project.write(app=ALL)
    refused = """
        import hashlib
        def refused(*args, **options):
            raise ValueError("[digital envelope routines] unsupported")
        for name in ("blake2b", "blake2s", "md5"):
            setattr(hashlib, name, refused)
    """
    use = textwrap.dedent(refused) + "import app; print(app.use())"
    assert ours(project.check(use).compiled) == NAMES
    assert ours(project.check(use).compiled) == set()
