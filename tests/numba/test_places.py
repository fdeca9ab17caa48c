"""Functions whose sources have no place for files beside them: never "cannot cache", which Numba's own says."""

from __future__ import annotations

import os
import shutil
import zipfile
from typing import NamedTuple

import pytest
from project import Project, Ran

FUNCTION = "import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n"


class Place(NamedTuple):
    """Where a function comes from."""

    name: str
    code: str
    numba: str = "no locator available"  # in what Numba's own raises; "" if it hits too
    stdin: bool = False


def execed(file: str, space: str) -> str:
    return f"""
        space = {space}
        exec(compile({FUNCTION!r}, {file!r}, "exec"), space)
        print(space["f"](1))
    """


PLACES = [
    Place("text that is run, without a file", execed("<string>", "{'__name__': 'made'}")),
    Place("text that is run in a namespace without a name", execed("<made>", "{}")),
    Place("text that names a file that is not there", execed("<made>/nowhere.py", "{'__name__': 'nowhere'}")),
    Place("standard input, as typed at a prompt", FUNCTION + "print(f(1))", stdin=True),
    Place("python -c", FUNCTION + "print(f(1))"),
    Place("a cell of a notebook", execed("<made-ipython-input-1>", "{'__name__': '__main__'}")),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=[p.name for p in PLACES])
def test_place(project: Project, place: Place) -> None:
    compiled = [project.check(place.code, stdin=place.stdin).compiled for _ in range(2)]
    assert compiled == [["f"], []]
    ran = project.run(place.code, "numba", stdin=place.stdin)
    assert ran.status != 0
    assert place.numba in ran.err


def test_source_that_is_gone(project: Project) -> None:
    """The module was imported from its bytecode: a package that ships none of its sources."""
    project.write(a=FUNCTION)
    import py_compile

    py_compile.compile(str(project.folder / "a.py"), cfile=str(project.folder / "a.pyc"), doraise=True)
    (project.folder / "a.py").unlink()
    assert [project.check("import a; print(a.f(1))").compiled for _ in range(2)] == [["f"], []]
    assert "no locator available" in project.run("import a; print(a.f(1))", "numba").err


@pytest.mark.parametrize("suffix", ["zip", "egg"])
def test_archive(project: Project, suffix: str) -> None:
    archive = project.folder / f"packed.{suffix}"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("a.py", FUNCTION)
    code = f"import sys; sys.path.insert(0, {str(archive)!r}); import a; print(a.f(1))"
    assert [project.check(code).compiled for _ in range(2)] == [["f"], []]
    ran = project.run(code, "numba")
    if suffix == "zip":
        assert ran.status == 0
    else:
        assert "no locator available" in ran.err


@pytest.mark.root
def test_unknown_user_without_a_home(project: Project) -> None:
    """As in a container that runs as a number: the source is not writable, there is no home and no name."""
    project.write(a=FUNCTION)
    # What Python imports late is not readable by everybody: it is imported first.
    code = """
        import os, numba, jitcache
        jitcache.available()
        numba.njit(lambda x: x)(1)
        os.setgroups([])
        os.setgid(54321)
        os.setuid(54321)
        import a
        print(a.f(1))
    """
    everything = project.folder.parent
    while everything != everything.parent and everything.name != "tmp":
        os.chmod(everything, 0o755)
        everything = everything.parent
    homeless = {"HOME": "/nonexistent", "JITCACHE_DIR": ""}

    def compiles(cache: str = "jitcache", **env: str) -> Ran:
        for log in (project.log, project.llvm_log):
            log.touch()
            log.chmod(0o666)
        return project.end(project.start(code, cache, fresh="it has no home from the start", **{**homeless, **env}))

    ran = compiles()
    assert (ran.out, ran.compiled) == ("2", ["<lambda>", "f"])
    assert "no locator available" in compiles("numba").err
    # With a directory that it may write it hits.
    shared = project.folder.parent / "shared"
    shared.mkdir()
    os.chown(shared, 54321, 54321)
    assert [compiles(JITCACHE_DIR=str(shared)).compiled for _ in range(2)] == [["<lambda>", "f"], ["<lambda>"]]
    shutil.rmtree(shared)


def test_nothing_is_written_beside_sources(project: Project) -> None:
    project.write(a=FUNCTION)
    project.check("import a; a.f(1)")
    assert [p.name for p in project.folder.iterdir()] == ["a.py"]
    project.check("import a; a.f(1)", "numba")
    assert (project.folder / "__pycache__").exists()
