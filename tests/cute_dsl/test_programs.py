"""Programs as NVIDIA's examples are: all are served by source, and after an edit with what a plain compile gives."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from project import HERE, Project

PROGRAMS = ["pointwise", "pointwise.leaky_job", "simt", "tensorcore", "wgmma", "norm"]


class Edit(NamedTuple):
    """An edit of a program or of what it imports, and whether it still hits."""

    name: str
    program: str
    module: str
    old: str
    new: str
    hits: bool = False


EDITS = [
    Edit("constant", "pointwise", "pointwise", "VECTOR = 4", "VECTOR = 2"),
    Edit("constant of a helper module", "pointwise", "tiles", "ROWS = 4", "ROWS = 8"),
    Edit("function of a helper module", "pointwise", "tiles", "threads // ROWS", "threads // ROWS // 2"),
    Edit("operation", "pointwise", "pointwise", "operator.mul", "operator.add"),
    Edit("lines, which are in the result", "pointwise", "pointwise", "import operator\n", "import operator\n\n"),
    Edit("columns, which are in the result", "pointwise", "pointwise", "    mine = [", "    mine =  ["),
    Edit("lines of a helper", "pointwise", "tiles", "ROWS = 4\n", "ROWS = 4\n\n\n"),
    Edit("name of a symbol", "pointwise", "pointwise", 'prefix("each")', 'prefix("one")'),
    Edit("name of the host's symbol", "pointwise", "pointwise", 'prefix("host")', 'prefix("caller")'),
    Edit("function that is an argument", "pointwise.leaky_job", "pointwise", "x > 0", "x > 1"),
    Edit("what it is bound to", "pointwise.leaky_job", "pointwise", "alpha=0.01", "alpha=0.02"),
    Edit("tile", "simt", "simt", "= (32, 32, 8)", "= (32, 16, 8)"),
    Edit("default of an object's", "simt", "simt", "unroll: int = 2", "unroll: int = 1"),
    Edit("default that is a function", "simt", "simt", "= lambda x: x,", "= lambda x: x + 1,"),
    Edit("tile of an object's", "tensorcore", "tensorcore", "(64, 64, 32)", "(64, 64, 64)"),
    Edit("constexpr that is a function", "tensorcore", "tensorcore", "epilogue=lambda x: x)", "epilogue=lambda x: x * x)"),
    Edit("swizzle", "tensorcore", "tensorcore", "make_swizzle(2, 3, 3)", "make_swizzle(1, 3, 3)"),
    Edit("comment", "tensorcore", "tensorcore", "import tiles\n", "import tiles  # of rows\n\n\n", hits=True),
    Edit("tile that is an argument", "wgmma", "wgmma", "tile=(64, 128)", "tile=(64, 64)"),
    Edit("stages of a class", "wgmma", "wgmma", "stages = 3", "stages = 2"),
    Edit("constexpr", "wgmma", "wgmma", "most=64", "most=32"),
    Edit("constant of a module", "wgmma", "wgmma", "DEPTH = 64", "DEPTH = 32"),
    Edit("constant in the kernel", "wgmma", "wgmma", "sums.load(), 2.0", "sums.load(), 3.0"),
    Edit("helper of another module", "wgmma", "tiles", "value * factor", "value + factor"),
    Edit("memoised function", "norm", "tiles", "ROWS = 4", "ROWS = 2"),
    Edit("text of a memoised function", "norm", "norm", "min(tiles.ROWS * 32", "min(tiles.ROWS * 16"),
    Edit("what a memoised function has asked the device", "norm", "torch", "major=9", "major=8"),
    Edit("what it would ask if it were another", "norm", "torch", "minor=0", "minor=1"),
    Edit("constant of a class", "norm", "norm", "BITS = 64", "BITS = 32"),
    Edit("helper", "norm", "tiles", "value * factor", "value + factor"),
    Edit("constant that is not used", "norm", "tiles", "ROWS = 4\n", "ROWS = 4\nUNUSED = 1\n", hits=True),
]  # fmt: skip


def prepare(project: Project) -> Project:
    for source in (HERE / "programs").glob("*.py"):
        shutil.copy(source, project.folder)
    return project


@pytest.fixture(scope="session")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """Projects after the first process, by program: lines in a result have the folder in them."""
    found = {}
    for name in PROGRAMS:
        found[name] = prepare(Project(tmp_path_factory.mktemp("before") / "project"))
        answer = found[name].program(name)
        assert answer == {"trace": 1, "compile": 1, "hit": False, "how": "source", "reason": "", "right": True}, name
    return found


HIT = {"trace": 0, "compile": 0, "hit": True, "how": "source", "reason": "", "right": True}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_hits_by_source_with_the_bytes_of_a_plain_compile(before: dict[str, Project], name: str) -> None:
    assert before[name].program(name) == HIT


@pytest.mark.parametrize("row", EDITS, ids=[f"{e.program}: {e.name}" for e in EDITS])
def test_edited_program_is_what_a_plain_compile_gives(before: dict[str, Project], row: Edit, tmp_path: Path) -> None:
    project = before[row.program]
    path, cache = project.folder / f"{row.module}.py", project.cache
    text, was = path.read_text(), path.stat()
    project.cache = tmp_path / "cache"
    shutil.copytree(cache, project.cache)
    try:
        project.edit(row.module, row.old, row.new)
        answer = project.program(row.program)
    finally:
        path.write_text(text)
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))  # which lines in a result have
        project.cache = cache
    assert answer["right"], answer
    assert answer["reason"] == "", answer
    # What is traced may turn out to be known: the edit made no difference.
    assert answer["trace"] == (0 if row.hits else 1), answer


# What makes the edit's test red if it is taken out: a wrong hit.
STALE = [
    ("pointwise", "pointwise", "import operator\n", "import operator\n\n", "lines"),
    ("pointwise", "tiles", "ROWS = 4\n", "ROWS = 8\n", "label global,label arguments,label rest"),
    ("wgmma", "wgmma", "stages = 3", "stages = 2", "label class,label arguments"),
    ("wgmma", "tiles", "value * factor", "value + factor", "label class,label arguments,label function"),
    ("norm", "torch", "major=9", "major=8", "label arguments,label class"),
]


@pytest.mark.parametrize(
    ("name", "module", "old", "new", "without"), STALE, ids=[f"{r[0]} without {r[4]}" for r in STALE]
)
def test_without_what_notices_the_edit_it_is_wrong(
    project: Project, name: str, module: str, old: str, new: str, without: str
) -> None:
    prepare(project)
    env = {"WITHOUT": without}
    assert project.program(name, **env)["how"] == "source"
    project.edit(module, old, new)
    answer = project.program(name, **env)
    assert answer["hit"]
    assert not answer["right"]


# What makes the first test red if it is taken out: it is not served.
UNSERVED = [("pointwise", "variables"), ("pointwise", "prefixes"), ("simt", "handles")]


@pytest.mark.parametrize(("name", "without"), UNSERVED)
def test_without_what_serves_it_a_program_is_traced_again(project: Project, name: str, without: str) -> None:
    prepare(project)
    code = f"""
        import {name}
        from jitcache.adapters import cute_dsl
        fn, args, kwargs, options = {name}.job()
        cute_dsl.compile(fn, *args, **kwargs, options=options, key="source")
        print(instrument.noted().count("trace"))
    """
    for _ in range(2):
        assert project.check(code, WITHOUT=without).out.splitlines()[-1] == "1"
