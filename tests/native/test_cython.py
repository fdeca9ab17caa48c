"""Cython: what it reads, how it is started, and what does not count; each beside a build without the cache."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import in_process, need, rest
from jitcache import native

pytestmark = [rest, pytest.mark.skipif(importlib.util.find_spec("Cython") is None, reason="no Cython")]

#: A function of a type that is declared elsewhere: 2.5 stays, or becomes 2.
USES = "def f(x):\n    cdef {0} y = x\n    return y\n"


@pytest.fixture(autouse=True)
def compilers() -> None:
    import sysconfig

    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no Python.h")
    need("g++")


def build(cache: Any, path: Any, **asked: Any) -> Any:
    return native.build(path if isinstance(path, dict) else [path], kind="extension", cache=cache, **asked)


def value(entry: Any, name: str = "m") -> Any:
    return native.load_extension(entry, name).f(2.5)


CPP = """{0}
from libcpp.vector cimport vector
def f(x):
    cdef vector[double] v
    v.push_back(x)
    v.push_back(x)
    return v[0] + v.size()
"""


@pytest.mark.parametrize(
    "head",
    [
        "# distutils: language = c++",
        "#distutils:language=c++",
        "# cython: language_level=3\n\n# distutils: language = c++\n",
    ],
)
@pytest.mark.parametrize("on_disk", [True, False])
def test_module_in_cpp_with_its_library(tmp_path: Path, cache: Any, head: str, on_disk: bool) -> None:
    text = CPP.format(head)
    (tmp_path / "m.pyx").write_text(text)
    source = tmp_path / "m.pyx" if on_disk else {"m.pyx": text}
    for hit in (False, True):
        entry = build(cache, source)
        assert (entry.hit, entry.refused) == (hit, "")
        assert value(entry) == 4.5
    assert bytes(entry) == bytes(build(False, source))


#: How a declaration is found: the source, where it is in the package, and the line that names it.
PLACES = {
    "from . cimport": ("pkg/m.pyx", "pkg/decl.pxd", "from . cimport decl", "decl.T"),
    "from .decl cimport": ("pkg/m.pyx", "pkg/decl.pxd", "from .decl cimport T", "T"),
    "from .. cimport": ("pkg/sub/m.pyx", "pkg/decl.pxd", "from .. cimport decl", "decl.T"),
    "absolute": ("pkg/sub/m.pyx", "pkg/decl.pxd", "from pkg cimport decl", "decl.T"),
    "of the package": ("pkg/m.pyx", "pkg/__init__.pxd", "from pkg cimport T", "T"),
    "for an older version": ("m.pyx", "lib/num/__init__.cython-29.pxd", "cimport num", "num.T"),
    "for this version": ("m.pyx", "lib/num/__init__.cython-30.pxd", "cimport num", "num.T"),
    "include": ("m.pyx", "decl.pxi", "include 'decl.pxi'", "T"),
    "include, spelled otherwise": ("m.pyx", "sub/decl.pxi", 'include    """sub/decl.pxi"""', "T"),
    "include with an escape": ("m.pyx", "decl.pxi", 'include "d\\x65cl.pxi"', "T"),
    "include of an include": ("m.pyx", "lib/decl.pxi", "include 'outer.pxi'", "T"),
}


@pytest.mark.parametrize("how", PLACES)
def test_declarations_wherever_they_are(tmp_path: Path, cache: Any, how: str) -> None:
    source, place, line, name = PLACES[how]
    for folder in ("pkg", "pkg/sub", "lib/num", "sub"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "outer.pxi").write_text("include 'lib/decl.pxi'\n")
    if "version" in how:
        (tmp_path / "lib/num/__init__.pxd").write_text("ctypedef char T\n")
    (tmp_path / source).write_text(f"{line}\n{USES.format(name)}")
    for ctype, expected, hit in (("int", 2, False), ("int", 2, True), ("double", 2.5, False), ("int", 2, True)):
        (tmp_path / place).write_text(f"ctypedef {ctype} T\n")
        entry = build(cache, tmp_path / source, include_dirs=[tmp_path / "lib"])
        assert (entry.hit, entry.refused) == (hit, "")
        assert value(entry) == expected
        assert bytes(entry) == bytes(build(False, tmp_path / source, include_dirs=[tmp_path / "lib"]))


def test_declaration_for_this_version_that_appears_beside_the_general_one(tmp_path: Path, cache: Any) -> None:
    (tmp_path / "num").mkdir()
    (tmp_path / "num/__init__.pxd").write_text("ctypedef int T\n")
    (tmp_path / "m.pyx").write_text("cimport num\n" + USES.format("num.T"))
    for hit in (False, True):
        entry = build(cache, tmp_path / "m.pyx")
        assert (entry.hit, value(entry)) == (hit, 2)
    (tmp_path / "num/__init__.cython-30.pxd").write_text("ctypedef double T\n")
    entry = build(cache, tmp_path / "m.pyx")
    assert (entry.hit, value(entry)) == (False, 2.5)
    assert entry.missed == f"{tmp_path}/num/__init__.cython-30.pxd: exists now"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that is searched first, with a Cython of its own."""
    found = importlib.util.find_spec("Cython")
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, tmp_path / "site" / "Cython")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    return tmp_path / "site"


def test_cython_that_changes(tmp_path: Path, cache: Any, site: Path) -> None:
    (tmp_path / "m.pyx").write_text(USES.format("double"))
    assert [build(cache, tmp_path / "m.pyx").hit for _ in range(2)] == [False, True]
    utility = site / "Cython/Utility/ModuleSetupCode.c"
    before = utility.read_text()
    changed = before.replace("#include <stddef.h>", "int of_another_cython;\n#include <stddef.h>", 1)
    translated = set()
    for text, hit in ((changed, False), (changed, True), (before, True)):
        utility.write_text(text)
        entry = build(cache, tmp_path / "m.pyx")
        assert (entry.hit, entry.refused) == (hit, "")
        assert bytes(entry) == bytes(build(False, tmp_path / "m.pyx"))
        translated.add(bytes(entry))
    assert len(translated) == 2


def test_module_of_cython_that_appears_earlier(tmp_path: Path, cache: Any, site: Path) -> None:
    """Python looks for an extension module before it looks for the source, in each folder in turn."""
    (tmp_path / "m.pyx").write_text(USES.format("double"))
    assert [build(cache, tmp_path / "m.pyx").hit for _ in range(2)] == [False, True]
    (site / "argparse.py").write_text("raise SystemExit('another argparse')\n")
    (site / "re.py").write_text("raise SystemExit('another re')\n")
    with pytest.raises(native.CompileError, match="another"):
        build(cache, tmp_path / "m.pyx")


def test_package_that_is_installed_beside_cython_is_no_input(tmp_path: Path, site: Path) -> None:
    """One that declares what the source uses is there too."""
    (site / "num").mkdir()
    (site / "num/__init__.pxd").write_text("ctypedef double T\n")
    (tmp_path / "m.pyx").write_text("cimport num\nfrom libc.math cimport sin\n" + USES.format("num.T"))
    asked: Any = {"sources": [str(tmp_path / "m.pyx")], "kind": "extension"}
    assert not in_process(tmp_path / "cache", **asked)["hit"]
    assert in_process(tmp_path / "cache", **asked)["hit"]
    (site / "unrelated").mkdir()
    (site / "unrelated/__init__.py").write_text("")
    (site / "unrelated-1.0.dist-info").mkdir()
    (site / "unrelated-1.0.dist-info/METADATA").write_text("Name: unrelated\n")
    (site / "unrelated.pth").write_text("import unrelated\n")
    found = in_process(tmp_path / "cache", **asked)
    assert found["hit"], found["missed"]
    # And where Python has compiled meanwhile what it imports.
    shutil.rmtree(site / "Cython/__pycache__", ignore_errors=True)
    for folder in (site / "Cython").rglob("__pycache__"):
        shutil.rmtree(folder)
    found = in_process(tmp_path / "cache", **asked)
    assert found["hit"], found["missed"]


def test_what_python_obeys_is_not_what_cython_does(tmp_path: Path, cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is started without the user's variables of Python, so they make no difference."""
    (tmp_path / "m.pyx").write_text(USES.format("double"))
    assert not build(cache, tmp_path / "m.pyx").hit
    for name, text in (("PYTHONHASHSEED", "7"), ("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONSTARTUP", "/nowhere")):
        monkeypatch.setenv(name, text)
    assert build(cache, tmp_path / "m.pyx").hit


def test_miss_of_a_translation_says_what_has_changed(tmp_path: Path, cache: Any) -> None:
    (tmp_path / "m.pyx").write_text("from decl cimport T\n" + USES.format("T"))
    for text in ("ctypedef int T\n", "ctypedef double T\n"):
        (tmp_path / "decl.pxd").write_text(text)
        missed = build(cache, tmp_path / "m.pyx").missed
    assert missed == f"{tmp_path}/decl.pxd: size changed"


def test_hit_takes_less_than_two_milliseconds_and_a_hundredth_of_a_compile(tmp_path: Path, cache: Any) -> None:
    (tmp_path / "m.pyx").write_text(CPP.format("# distutils: language = c++"))
    start = time.perf_counter()
    build(cache, tmp_path / "m.pyx")
    first = time.perf_counter() - start
    times = []
    for _ in range(50):
        start = time.perf_counter()
        assert build(cache, tmp_path / "m.pyx").hit
        times.append(time.perf_counter() - start)
    assert min(times) < first / 100, (min(times), first)


def test_other_python_flags_are_not_needed(tmp_path: Path) -> None:
    """A module that was translated in one process is there in the next, whatever that has imported."""
    (tmp_path / "m.pyx").write_text(USES.format("double"))
    asked: Any = {"sources": [str(tmp_path / "m.pyx")], "kind": "extension"}
    assert not in_process(tmp_path / "cache", **asked)["hit"]
    found = in_process(tmp_path / "cache", python=sys.executable, **asked)
    assert found["hit"]
    assert not found["cython"]
