"""Memoised functions by source: what they remember counts where it may have come of other values."""

from __future__ import annotations

import pytest
from project import Project

PROGRAM = """
import functools
import os
import cutlass
import cutlass.cute as cute

N = 1

@functools.{decorator}
def remembered(k=0):
    return N + k

@functools.lru_cache
def asked():
    return int(os.environ.get("N", "1"))

@cute.jit
def first(x: cutlass.Int32):
    cute.printf("%d\\n", x + remembered())

@cute.jit
def second(x: cutlass.Int32):
    cute.printf("%d\\n", x * 10 + remembered(k=5))

@cute.jit
def device(x: cutlass.Int32):
    cute.printf("%d\\n", x + asked())
"""

RUN = """
    import app
    from jitcache.adapters import cute_dsl
    {before}
    for function in ({functions},):
        result = cute_dsl.compile(function, 1, key="source")
        print(result.how or "none", result.hit, flush=True)
        result(1)
"""


def run(project: Project, functions: str, before: str = "", **env: str) -> list[str]:
    """Return key, hit and what is printed, of each function."""
    return project.check(RUN.format(functions=functions, before=before), **env).out.split()


DECORATORS = ["lru_cache", "cache", "lru_cache(maxsize=2)", "lru_cache(typed=True)"]


@pytest.mark.parametrize("decorator", DECORATORS)
def test_memoised_function_counts_by_value(project: Project, decorator: str) -> None:
    project.write(app=PROGRAM.format(decorator=decorator))
    assert run(project, "app.first") == ["source", "False", "2"]
    assert run(project, "app.first") == ["source", "True", "2"]
    project.edit("app", "N = 1", "N = 2")
    assert run(project, "app.first") == ["source", "False", "3"]
    project.edit("app", "return N + k", "return N + k + 1")
    assert run(project, "app.first") == ["source", "False", "4"]


@pytest.mark.parametrize("decorator", DECORATORS)
@pytest.mark.parametrize("without", ["", "memory"])
def test_what_is_remembered_of_an_earlier_value_counts(project: Project, decorator: str, without: str) -> None:
    """The control has what came of 1 where the value is 2 from the start."""
    project.write(app=PROGRAM.format(decorator=decorator))
    env = {"WITHOUT": without} if without else {}
    assert run(project, "app.first", "app.remembered(); app.N = 2", **env) == ["source", "False", "2"]
    want = ["source", "True", "2"] if without else ["source", "False", "3"]
    assert run(project, "app.first", "app.N = 2", **env) == want
    if not without:
        assert run(project, "app.first", "app.remembered(); app.N = 2") == ["source", "True", "2"]


@pytest.mark.parametrize("without", ["", "learning"])
def test_what_a_trace_has_remembered_does_not_count(project: Project, without: str) -> None:
    """Neither which of two was compiled first, nor whether: the control depends on it."""
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    env = {"WITHOUT": without} if without else {}
    assert run(project, "app.first, app.second", **env) == ["source", "False", "2", "source", "False", "16"]
    hits = "False" if without else "True"
    assert run(project, "app.second, app.first", **env) == ["source", hits, "16", "source", "True", "2"]


def test_what_was_remembered_in_a_trace_counts_once_the_value_is_another(project: Project) -> None:
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    code = """
        import app
        from jitcache.adapters import cute_dsl
        for function, n in ((app.first, 1), (app.second, 1), (app.first, 2), (app.second, 2)):
            app.N = n
            result = cute_dsl.compile(function, 1, key="source")
            print(result.hit, flush=True)
            result(1)
    """
    # The memory of the first two is of the value 1, which the last two are given too.
    assert project.check(code).out.split() == ["False", "2", "False", "16", "False", "2", "False", "16"]
    assert run(project, "app.first, app.second", "app.N = 2") == ["source", "False", "3", "source", "False", "17"]


@pytest.mark.parametrize("without", ["", "runs"])
def test_memoised_function_that_reads_the_world_counts_by_what_it_remembers(project: Project, without: str) -> None:
    """If it runs while it is traced, nobody knows what it has read: the control takes it as if that were seen."""
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    env = {"WITHOUT": without} if without else {}
    if not without:
        for n, hit, printed in (("1", "False", "2"), ("1", "True", "2"), ("2", "False", "3"), ("2", "True", "3")):
            assert run(project, "app.device", "app.asked()", N=n) == ["source", hit, printed]
        project.edit("app", 'int(os.environ.get("N", "1"))', '2 * int(os.environ.get("N", "1"))')
        assert run(project, "app.device", "app.asked()", N="1") == ["source", "False", "3"]
        project.edit("app", '2 * int(os.environ.get("N", "1"))', 'int(os.environ.get("N", "1"))')
    for n, printed in (("1", "2"), ("2", "2" if without else "3")):
        how, hit, said = run(project, "app.device", N=n, **env)
        assert said == printed
        assert how == ("source" if without else "traced")
        assert without or hit == "True"  # by its trace, which one of the above has made


@pytest.mark.parametrize("without", ["", "references"])
def test_type_that_an_annotation_names_within_another_counts_by_what_it_means(project: Project, without: str) -> None:
    project.write(
        app="""
        from typing import List, Union
        import cutlass, cutlass.cute as cute
        class Size:
            many = 1
        Shape = Union[int, "Size"]
        @cute.jit
        def first(x: cutlass.Int32, more: cutlass.Constexpr[Shape] = 0, deep: List["Shape"] = None):
            cute.printf("%d\\n", x)
        """
    )
    env = {"WITHOUT": without} if without else {}
    assert run(project, "app.first", **env) == ["source", "False", "1"]
    assert run(project, "app.first", **env) == ["source", "True", "1"]
    project.edit("app", "many = 1", "many = 2")
    assert run(project, "app.first", **env)[:2] == (["source", "True"] if without else ["source", "False"])


@pytest.mark.parametrize("without", ["", "handles"])
def test_default_that_is_a_handle_is_the_functions_own(project: Project, without: str) -> None:
    project.write(
        app="""
        import cuda.bindings.driver as cuda
        import cutlass, cutlass.cute as cute
        HERE = cuda.CUstream(4096)
        @cute.jit
        def first(x: cutlass.Int32, stream: cuda.CUstream = HERE, last: cutlass.Int32 = 5):
            cute.printf("%d\\n", x + last)
        """
    )
    code = """
        import app
        from jitcache.adapters import cute_dsl
        for key in ("source", "traced"):
            result = cute_dsl.compile(app.first, 1, key=key)
            print(result.hit, result.how or "none", result.reason or "none", flush=True)
            print(result.execution_args.signature.parameters["stream"].default is app.HERE, flush=True)
            result(1)
            result(1, last=2)
    """
    if without:
        ran = project.check(code, WITHOUT=without)
        assert ran.out.split()[:5] == ["False", "none", "cannot", "be", "exported"]
        return
    for hit in ("False", "True"):
        assert project.check(code).out.split() == [
            *(hit, "source", "none", "True", "6", "3"),
            *("True", "traced", "none", "True", "6", "3"),
        ]
