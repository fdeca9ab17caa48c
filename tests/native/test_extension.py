"""Extension modules in C and Cython, names that differ from run to run, and other Pythons."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jitcache
import pytest
from conftest import CountedCompiler, in_process, need, rest
from jitcache import native


def cython(test: Any) -> Any:
    """Mark a test that needs Cython."""
    return rest(pytest.mark.skipif(find_spec("Cython") is None, reason="no Cython")(test))


MODULE = """#include <Python.h>
#include "MODULE_values.h"
static PyObject *value(PyObject *self, PyObject *args) { return PyLong_FromLong(MODULE_value); }
static PyMethodDef methods[] = {{"value", value, METH_NOARGS, ""}, {0}};
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "MODULE", "", -1, methods};
PyMODINIT_FUNC PyInit_MODULE(void) { return PyModule_Create(&def); }
"""

# In the shape of underworld3's: functions in a header, pointers to them handed out by a module.
PYX = """cdef extern from "MODULE.h" nogil:
    double MODULE_f0(double x)
cdef class Pointers:
    cdef double (*fn)(double) nogil
    def call(self, double x):
        return self.fn(x)
def pointers():
    p = Pointers()
    p.fn = MODULE_f0
    return p
"""


@pytest.fixture(autouse=True)
def headers() -> None:
    import sysconfig

    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no Python.h")
    need("gcc")


def c_module(name: str, value: int) -> dict[str, str]:
    return {f"{name}.c": MODULE.replace("MODULE", name), f"{name}_values.h": f"enum {{ {name}_value = {value} }};\n"}


def cython_module(name: str, factor: int) -> dict[str, str]:
    header = f"static inline double {name}_f0(double x) {{ return {factor} * x; }}\n"
    return {f"{name}.pyx": PYX.replace("MODULE", name), f"{name}.h": header}


def test_extension_is_loaded_under_its_name(cache: Any) -> None:
    for hit in (False, True):
        entry = native.build(c_module("solver", 42), kind="extension", cache=cache)
        assert entry.hit is hit
    module = native.load_extension(entry, "package.solver")
    assert module.value() == 42
    assert module.__name__ == "package.solver"


def test_random_names_are_one_entry(cache: Any) -> None:
    before = set(sys.modules)
    for name, value, hit in (("fn_ptr_1a2b", 42, False), ("fn_ptr_9z8y", 42, True), ("fn_ptr_9z8y", 43, False)):
        entry = native.build(c_module(name, value), kind="extension", placeholders={name: "MOD"}, cache=cache)
        assert entry.hit is hit
        module = native.load_extension(entry, name)
        assert module.value() == value
        assert module.__name__ == name
    assert set(sys.modules) - before == set()


def test_placeholders_reach_flags_names_and_nested_names(cache: Any) -> None:
    for name in ("run1", "run22"):
        # One name begins with the other.
        entry = native.build(
            {f"{name}.c": f"int {name}_long(void) {{ return {name.upper()}; }}\n"},
            name=f"{name}.c", flags=[f"-D{name.upper()}=42"],
            placeholders={name: "A", f"{name}_long": "B", name.upper(): "C"}, cache=cache,
        )  # fmt: skip
        assert native.load_shared(entry).B() == 42
        assert entry.name == "A.c"
    assert entry.hit


def test_placeholder_that_is_taken_is_refused(cache: Any) -> None:
    text = "int MOD = 1;\nint fn_1 = 2;\n"
    with pytest.raises(jitcache.Error, match="MOD"):
        native.build(text, placeholders={"fn_1": "MOD"}, cache=cache)
    # Part of another word does no harm.
    assert not native.build("int MODE = 1;\nint fn_1 = 2;\n", placeholders={"fn_1": "MOD"}, cache=cache).hit


def test_what_is_no_extension_is_an_import_error(cache: Any) -> None:
    entry = native.build("int f;\n", cache=cache)
    with pytest.raises(ImportError):
        native.load_extension(entry, "f")


@cython
def test_cython_module_is_compiled_once(cache: Any, counted: CountedCompiler) -> None:
    for name, hit in (("jit_11", False), ("jit_22", True), ("jit_22", True)):
        entry = native.build(
            cython_module(name, 3), kind="extension", placeholders={name: "MOD"}, compiler=counted.path, cache=cache
        )
        assert entry.hit is hit
        assert native.load_extension(entry, name).pointers().call(14) == 42
    assert counted.compiles() == 1


@cython
def test_hit_imports_no_cython(tmp_path: Path, counted: CountedCompiler) -> None:
    asked: Any = {"sources": cython_module("m", 3), "kind": "extension", "compiler": str(counted.path)}
    assert not in_process(tmp_path / "cache", **asked)["hit"]
    assert counted.compiles() == 1
    found = in_process(tmp_path / "cache", **asked)
    assert found["hit"]
    assert not found["cython"]
    assert counted.compiles() == 1


@cython
def test_cython_error_has_log_and_command(cache: Any) -> None:
    with pytest.raises(jitcache.CompileError) as e:
        native.build({"m.pyx": "def f(:\n"}, kind="extension", cache=cache)
    assert "m.pyx:1" in e.value.log
    assert "m.pyx" in (e.value.command or [])


@cython
@pytest.mark.parametrize("how", ["cimport", "from cimport", "include", "beside"])
def test_declarations_that_change(tmp_path: Path, cache: Any, how: str) -> None:
    line = {
        "cimport": "cimport decl",
        "from cimport": "from decl cimport T",
        "include": 'include "decl.pxi"',
        "beside": "",
    }[how]
    use = {"cimport": "decl.T", "beside": "T"}.get(how, "T")
    (tmp_path / "m.pyx").write_text(f"{line}\ndef f(x):\n    cdef {use} y = x\n    return y\n")
    file = tmp_path / {"include": "decl.pxi", "beside": "m.pxd"}.get(how, "decl.pxd")
    for ctype, value, hit in (("int", 2, False), ("int", 2, True), ("double", 2.5, False), ("int", 2, True)):
        file.write_text(f"ctypedef {ctype} T\n")
        entry = native.build([tmp_path / "m.pyx"], kind="extension", cache=cache)
        assert entry.hit is hit
        assert native.load_extension(entry, "m").f(2.5 if value == 2.5 else 2) == value


@cython
def test_declarations_found_first_on_the_path(tmp_path: Path, cache: Any) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "m.pyx").write_text("from decl cimport T\ndef f(x):\n    cdef T y = x\n    return y\n")
    (tmp_path / "two" / "decl.pxd").write_text("ctypedef int T\n")
    asked: Any = {"kind": "extension", "include_dirs": [tmp_path / "one", tmp_path / "two"], "cache": cache}
    assert not native.build([tmp_path / "m.pyx"], **asked).hit
    assert native.build([tmp_path / "m.pyx"], **asked).hit
    (tmp_path / "one" / "decl.pxd").write_text("ctypedef double T\n")
    entry = native.build([tmp_path / "m.pyx"], **asked)
    assert not entry.hit
    assert native.load_extension(entry, "m").f(2.5) == 2.5


def others() -> list[str]:
    """Other Pythons of this machine, with headers."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from areas.python import interpreters

    code = "import sysconfig, os; print(os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    found = interpreters()
    return [
        p
        for v, p in found.items()
        if v in ("3.10", "3.12")
        and "True" in subprocess.run([p, "-c", code], capture_output=True, text=True, check=False).stdout
    ]


def test_other_pythons_have_their_own(tmp_path: Path) -> None:
    pythons = others()
    if not pythons:
        pytest.skip("neither Python 3.10 nor 3.12")
    for python in [sys.executable, *pythons]:
        assert not in_process(tmp_path / "cache", python=python, sources=c_module("m", 1), kind="extension")["hit"]
    for python in [sys.executable, *pythons]:
        assert in_process(tmp_path / "cache", python=python, sources=c_module("m", 1), kind="extension")["hit"]


def test_abi_of_python_is_in_the_key(cache: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for its headers alone: two builds of one version may share them."""
    from jitcache import _native_job

    native.build(c_module("m", 1), kind="extension", cache=cache)
    monkeypatch.setattr(
        _native_job.sysconfig,
        "get_config_var",
        lambda name: "cpython-399-x86_64-linux-gnu" if name == "SOABI" else None,
    )
    assert not native.build(c_module("m", 1), kind="extension", cache=cache).hit
