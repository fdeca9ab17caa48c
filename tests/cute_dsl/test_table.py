"""What changes between two processes: the second one hits or compiles, and either way has what a fresh compile gives."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from project import Project


class Change(NamedTuple):
    """A change, and what is done after it by key: "trace compile" counts."""

    name: str
    edits: tuple[tuple[str, str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    traced: str = "compiles"  # or hits
    source: str = "compiles"  # or hits, or traces: what is traced turns out to be known
    without: tuple[str, ...] = ()  # taken out one by one, each makes it wrong or a hit
    options: str = ""  # before and after


def app(name: str, old: str, new: str, without: tuple[str, ...] = (), **more: str) -> Change:
    return Change(name, (("app", old, new),), without=without, **more)


ALIGN = "(1,), assumed_align=16)"
TVM = "--enable-tvm-ffi"
CHANGES = [
    Change("nothing", traced="hits", source="hits", without=("stop",)),
    app("type of an argument", "cutlass.Float32, (rows,)", "cutlass.Float16, (rows,)", ("label module,label arguments",)),
    app("static size", "(rows,)", "(64,)"),
    app("stride", f"(others,), {ALIGN}", "(others,), (2,), assumed_align=16)"),
    app("alignment", f"(rows,), {ALIGN}", "(rows,), (1,), assumed_align=4)"),
    app("divisibility", "rows, others = cute.sym_int()", "rows, others = cute.sym_int(divisibility=8)"),
    app("constant argument", "(x, y, 1, 7)", "(x, y, 1, 8)"),
    app("closure", "closed(1)", "closed(2)", ("label module,label closure",)),
    app("global", "SCALE = 2", "SCALE = 4", ("label module,label global",)),
    app("item of a global", "TABLE = [3, 4]", "TABLE = [5, 4]"),
    app("the function", "grid=(n, 1, 1)", "grid=(n, 2, 1)", ("label module,label function",)),
    app("annotation", "last: cutlass.Int32 = 5", "last: cutlass.Int64 = 5"),
    app("default", "cutlass.Int32 = 5", "cutlass.Int32 = 6", ("label signature,label function,label defaults",)),
    app("name of a parameter", "last: cutlass", "late: cutlass"),
    Change("function of another module", (("lib", "* 3", "* 4"),), without=("label module,label global", "label module,walk")),
    Change("function that that calls", (("lib", "v + 1", "v + 2"),), without=("label module,label global", "label module,walk")),
    Change("attribute of another module", (("lib", "OFFSET = 10", "OFFSET = 11"),), without=("label module,label global",)),
    Change("opt level", env=(("OPTIONS", "--opt-level 1"),), without=("label option",)),
    Change("options of the compiler", env=(("OPTIONS", "--ptxas-options '-O0'"),)),
    Change("architecture", env=(("CUTE_DSL_ARCH", "sm_100a"),), without=("label architecture,label settings,label module",)),
    Change("architecture by option", env=(("OPTIONS", "--gpu-arch sm_90"),)),
    Change("setting", env=(("CUTE_DSL_TOLERATE_M2M", "0"),), without=("label settings",)),
    Change("a setting of a version to come", env=(("CUTE_DSL_NOT_YET_KNOWN", "1"),)),
    Change("version", env=(("VERSION", "4.8.2"),), without=("label versions",)),
    Change("nightly build of the same version", env=(("BUILD", "another"),), without=("label compiler",)),
    Change("processor", env=(("PROCESSOR", "x86_64 without AVX-512"),), without=("label processor",)),
    Change("route", env=(("OPTIONS", TVM),)),
    app("dimensions that are one, with TVM FFI", "(others,), (1,)", "(rows,), (1,)", ("label arguments",), options=TVM),
    app("stream of the caller's, with TVM FFI", "job(stream=None)", "job(stream=make_fake_stream(use_tvm_ffi_env_stream=True))", options=TVM),
    # What changes nothing.
    app("comment", "SCALE = 2", "SCALE = 2  # two\n# and more", traced="hits", source="hits"),
    app("lines", "import lib\n", "import lib\n\n\n\n", traced="hits", source="hits"),
    app("formatting", "y[thread] = helper(x[thread])", "y[thread] = (helper(\n        x[thread]))", traced="hits", source="hits"),
    app("another global", "UNUSED = 1", "UNUSED = 2", traced="hits", source="hits"),
    Change("attribute that is not used", (("lib", "OTHER = 1", "OTHER = 2"),), traced="hits", source="hits"),
    Change("name of a variable", (("lib", "inner(v):\n    return v", "inner(w):\n    return w"),), traced="hits", source="traces"),
    Change("the same, written in another way", (("lib", "OFFSET = 10", "OFFSET = 5 + 5"),), traced="hits", source="hits"),
    Change("setting that prints", env=(("CUTE_DSL_LOG_LEVEL", "50"),), traced="hits", source="hits"),
    Change("where to write", env=(("CUTE_DSL_DUMP_DIR", "/tmp"),), traced="hits", source="hits"),
]  # fmt: skip


def prepare(project: Project) -> None:
    """Have the program take its options from the environment."""
    project.edit("app", '(x, y, 1, 7), {}, ""', "(x, y, 1, 7), more, __import__('os').environ.get('OPTIONS', '')")
    project.edit(
        "app", "def job():\n", "def job(stream=None):\n    more = {} if stream is None else {'stream': stream}\n"
    )
    project.edit("app", "stream=None, last", "stream: cuda.bindings.driver.CUstream = None, last")
    project.edit("app", "import cutlass\n", "import cuda.bindings.driver\nimport cutlass\n")


@pytest.fixture(scope="session")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Caches after the first process, by options."""
    found = {}
    for options in ("", TVM):
        project = Project(tmp_path_factory.mktemp("before") / "project")
        prepare(project)
        answer = project.jobs(OPTIONS=options)
        assert [a["compile"] for a in answer.values()] == [1, 1], answer
        assert all(a["right"] and a["reason"] == "" for a in answer.values()), answer
        assert answer["source"]["how"] == "source"
        found[options] = project.cache
    return found


def change(project: Project, row: Change) -> dict[str, str]:
    for edit in row.edits:
        project.edit(*edit)
    return {"OPTIONS": row.options, **dict(row.env)}


DONE = {"compiles": (1, 1), "hits": (1, 0), "traces": (1, 0)}


@pytest.mark.parametrize("row", CHANGES, ids=[c.name for c in CHANGES])
def test_change(project: Project, before: dict[str, Path], row: Change) -> None:
    prepare(project)
    shutil.copytree(before[row.options], project.cache)
    answer = project.jobs(**change(project, row))
    done = {key: (a["trace"], a["compile"]) for key, a in answer.items()}
    assert done["traced"] == DONE[row.traced], answer
    assert done["source"] == ((0, 0) if row.source == "hits" else DONE[row.source]), answer
    assert all(a["right"] for a in answer.values()), answer


def test_moved(project: Project, before: dict[str, Path]) -> None:
    """Sources in another folder, and a cache that was copied to another place: all hit."""
    prepare(project)
    project.move()
    shutil.copytree(before[""], project.cache)
    answer = project.jobs(OPTIONS="")
    assert [(a["trace"], a["compile"], a["right"]) for a in answer.values()] == [(0, 0, True), (1, 0, True)]


def make_old(project: Project) -> None:
    """Give a file the time of another day."""
    os.utime(project.folder / "app.py", (1_700_000_000, 1_700_000_000))


def test_lines_count_where_they_are_in_the_result(project: Project) -> None:
    """With line information both keys have them: of an edited file, one in another folder, one of another day."""
    prepare(project)
    options = {"OPTIONS": "--generate-line-info"}
    project.jobs(**options)
    answer = project.jobs(**options)
    assert [(a["trace"], a["compile"], a["right"]) for a in answer.values()] == [(0, 0, True), (1, 0, True)]
    for change in (
        lambda: project.edit("app", "import lib\n", "import lib\n\n\n\n"),
        project.move,
        lambda: make_old(project),
    ):
        change()
        answer = project.jobs(**options)
        assert [(a["compile"], a["right"], a["reason"]) for a in answer.values()] == [(1, True, "")] * 2


def test_without_lines_the_result_has_those_of_before(project: Project) -> None:
    """The control: with the locations left out of both keys."""
    prepare(project)
    options = {"OPTIONS": "--generate-line-info", "WITHOUT": "lines"}
    project.jobs(**options)
    project.edit("app", "import lib\n", "import lib\n\n\n\n")
    answer = project.jobs(**options)
    assert not any(a["right"] for a in answer.values())


def test_without_the_time_of_a_file_the_result_has_that_of_before(project: Project) -> None:
    """The control: tables of lines have it."""
    prepare(project)
    options = {"OPTIONS": "--generate-line-info", "WITHOUT": "times"}
    project.jobs(**options)
    make_old(project)
    answer = project.jobs(**options)
    assert not any(a["right"] for a in answer.values())


CONTROLS = [(row, without) for row in CHANGES for without in row.without]


@pytest.mark.parametrize(("row", "without"), CONTROLS, ids=[f"{r.name} without {w}" for r, w in CONTROLS])
def test_without(project: Project, row: Change, without: str) -> None:
    """With what notices a change taken out, the test of it is red for at least one key."""
    prepare(project)
    env = {"WITHOUT": without}
    project.jobs(OPTIONS=row.options, **env)
    answer = project.jobs(**{**change(project, row), **env})
    wanted = {"traced": row.traced, "source": row.source}
    kept = [
        a["right"]
        and (a["trace"], a["compile"]) == ((0, 0) if key == "source" and wanted[key] == "hits" else DONE[wanted[key]])
        for key, a in answer.items()
    ]
    assert not all(kept), answer


def test_names_of_arguments_without_parameters(project: Project) -> None:
    """They are parameters of the result, and nowhere in the module."""
    project.write(
        a="import cutlass, cutlass.cute as cute\n@cute.jit\ndef f(**more):\n    for v in more.values():\n        cute.printf('%d\\n', v)\n"
    )
    code = """
        import a
        from jitcache.adapters import cute_dsl
        for key in ("source", "traced"):
            for name in ("one", "two"):
                result = cute_dsl.compile(a.f, key=key, **{name: 1})
                print(key, name, result.hit, list(result.execution_args.signature.parameters))
    """
    want = [f"{k} {n} {k == 'traced'} ['{n}']" for k in ("source", "traced") for n in ("one", "two")]
    assert project.check(code).out.splitlines() == want
    project.cache = project.cache.parent / "control"
    assert project.check(code, WITHOUT="label names,label arguments").out.splitlines() != want
