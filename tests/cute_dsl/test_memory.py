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
    results = []
    for function in ({functions},):
        before = instrument.noted().count("trace")
        results.append(cute_dsl.compile(function, 1, key="source"))
        print(results[-1].how, "traced" if instrument.noted().count("trace") > before else "found", flush=True)
    for result in results:
        result(1)
"""


def run(project: Project, functions: str, before: str = "", **env: str) -> list[str]:
    """Return the key that each function has by now, whether it was traced or found, and then what each prints."""
    return project.check(RUN.format(functions=functions, before=before), **env).out.split()


DECORATORS = ["lru_cache", "cache", "lru_cache(maxsize=2)", "lru_cache(typed=True)"]


@pytest.mark.parametrize("decorator", DECORATORS)
def test_memoised_function_counts_by_value(project: Project, decorator: str) -> None:
    project.write(app=PROGRAM.format(decorator=decorator))
    assert run(project, "app.first") == ["source", "traced", "2"]
    assert run(project, "app.first") == ["source", "found", "2"]
    project.edit("app", "N = 1", "N = 2")
    assert run(project, "app.first") == ["source", "traced", "3"]
    project.edit("app", "return N + k", "return N + k + 1")
    assert run(project, "app.first") == ["source", "traced", "4"]


@pytest.mark.parametrize("decorator", DECORATORS)
@pytest.mark.parametrize("without", ["", "memory"])
def test_what_is_remembered_of_an_earlier_value_counts(project: Project, decorator: str, without: str) -> None:
    """The control has what came of 1 where the value is 2 from the start."""
    project.write(app=PROGRAM.format(decorator=decorator))
    env = {"WITHOUT": without} if without else {}
    assert run(project, "app.first", "app.remembered(); app.N = 2", **env) == ["source", "traced", "2"]
    want = ["source", "found", "2"] if without else ["source", "traced", "3"]
    assert run(project, "app.first", "app.N = 2", **env) == want
    if not without:
        assert run(project, "app.first", "app.remembered(); app.N = 2") == ["source", "found", "2"]


@pytest.mark.parametrize("without", ["", "learning"])
def test_what_a_trace_has_remembered_does_not_count(project: Project, without: str) -> None:
    """Neither which of two was compiled first, nor whether: the control depends on it."""
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    env = {"WITHOUT": without} if without else {}
    assert run(project, "app.first, app.second", **env) == ["source", "traced", "source", "traced", "2", "16"]
    found = "traced" if without else "found"
    assert run(project, "app.second, app.first", **env)[:2] == ["source", found]


NESTED = """
@functools.lru_cache
def outer(k):
    return remembered(k) * 2 + (outer(k - 1) if k else 0)

@functools.cache
def other(k):
    return outer(k) + (other(k - 1) if k else 0)

@cute.jit
def third(x: cutlass.Int32):
    cute.printf("%d\\n", x + outer(2))

@cute.jit
def fourth(x: cutlass.Int32):
    cute.printf("%d\\n", x + other(1) + remembered(2))
"""


def test_memoised_functions_that_call_each_other_and_themselves_count_by_value(project: Project) -> None:
    project.write(app=PROGRAM.format(decorator="lru_cache") + NESTED)
    traced, found = ["source", "traced"], ["source", "found"]
    assert run(project, "app.third, app.fourth") == [*traced, *traced, "13", "12"]
    assert run(project, "app.fourth, app.third, app.first") == [*found, *found, *traced, "12", "13", "2"]
    project.edit("app", "N = 1", "N = 2")
    assert run(project, "app.fourth, app.third") == [*traced, *traced, "19", "19"]


def test_what_was_remembered_in_a_trace_counts_once_the_value_is_another(project: Project) -> None:
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    code = """
        import app
        from jitcache.adapters import cute_dsl
        results = []
        for function, n in ((app.first, 1), (app.second, 1), (app.first, 2), (app.second, 2)):
            app.N = n
            results.append(cute_dsl.compile(function, 1, key="source"))
        for result in results:
            result(1)
    """
    # The memory of the first two is of the value 1, which the last two are given too.
    assert project.check(code).out.split() == ["2", "16", "2", "16"]
    assert run(project, "app.first, app.second", "app.N = 2") == ["source", "traced", "source", "traced", "3", "17"]
    assert run(project, "app.first, app.second") == ["source", "found", "source", "found", "2", "16"]


def test_memoised_function_that_reads_the_world_counts_by_what_it_remembers(project: Project) -> None:
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    for n, found, printed in (("1", "traced", "2"), ("1", "found", "2"), ("2", "traced", "3"), ("2", "found", "3")):
        assert run(project, "app.device", "app.asked()", N=n) == ["source", found, printed]
    project.edit("app", 'int(os.environ.get("N", "1"))', '4 * int(os.environ.get("N", "1"))')
    assert run(project, "app.device", "app.asked()", N="1") == ["source", "traced", "5"]


@pytest.mark.parametrize("without", ["", "changes"])
def test_what_a_trace_has_remembered_counts_once_it_has_changed(project: Project, without: str) -> None:
    """A list, say, that the program goes on to change; the control does not look."""
    text = PROGRAM.format(decorator="lru_cache").replace("return N + k", "return [N + k]")
    project.write(app=text.replace("remembered()", "remembered()[0]").replace("remembered(k=5)", "remembered()[0]"))
    env = {"WITHOUT": without} if without else {}
    code = """
        import app
        from jitcache.adapters import cute_dsl
        cute_dsl.compile(app.first, 1, key="source")
        app.remembered()[0] = 7
        cute_dsl.compile(app.second, 1, key="source")(1)
    """
    assert project.check(code, **env).out == "17"
    assert run(project, "app.second", **env) == (["source", "found", "17"] if without else ["source", "traced", "11"])


@pytest.mark.parametrize("without", ["", "runs"])
def test_memoised_function_that_reads_the_world_must_not_run_in_a_trace(project: Project, without: str) -> None:
    """Nobody knows what it has read then. The control takes it as if that were seen, and has what was read first."""
    project.write(app=PROGRAM.format(decorator="lru_cache"))
    env = {"WITHOUT": without} if without else {}
    how = "source" if without else "traced"
    assert run(project, "app.device", N="1", **env) == [how, "traced", "2"]
    assert run(project, "app.device", N="2", **env) == ([how, "found", "2"] if without else [how, "traced", "3"])


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
        def inner(x: cutlass.Int32, more: Shape, deep: List["Shape"]):
            cute.printf("%d\\n", x)
        @cute.jit
        def first(x: cutlass.Int32):
            inner(x, 1, [])
        """
    )
    env = {"WITHOUT": without} if without else {}
    assert run(project, "app.first", **env) == ["source", "traced", "1"]
    assert run(project, "app.first", **env) == ["source", "found", "1"]
    project.edit("app", "many = 1", "many = 2")
    assert run(project, "app.first", **env) == ["source", "found" if without else "traced", "1"]


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
        results = []
        for key in ("source", "traced"):
            results.append(cute_dsl.compile(app.first, 1, key=key))
            kept = results[-1].execution_args.signature.parameters["stream"].default
            print(results[-1].hit, results[-1].how or "none", kept is app.HERE, flush=True)
        for result in results:
            result(1)
            result(1, last=2)
    """
    env = {"WITHOUT": without} if without else {}
    for hit in ("False", "True"):
        found = project.check(code, **env).out.split()
        if without:
            assert found[:3] == ["False", "none", "True"]
        else:
            assert found == [hit, "source", "True", "True", "traced", "True", "6", "3", "6", "3"]
