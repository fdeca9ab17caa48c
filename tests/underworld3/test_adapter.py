"""The four functions in the place of underworld3's: same answers to the same environment, and no surprises."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import samples
from job import ROOT, end, start
from site_folder import F, G, Site

HOME = "/somebody"


@pytest.mark.parametrize(
    ("env", "want"),
    [
        ({}, f"{HOME}/.cache/underworld3/jit"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/underworld3/jit"),
        ({"XDG_CACHE_HOME": "~/x"}, f"{HOME}/x/underworld3/jit"),
        ({"XDG_CACHE_HOME": ""}, f"{HOME}/.cache/underworld3/jit"),
        ({"UW_JIT_CACHE_DIR": "/d", "XDG_CACHE_HOME": "/x"}, "/d"),
        ({"UW_JIT_CACHE_DIR": "~/d"}, f"{HOME}/d"),
        ({"UW_JIT_CACHE_DIR": "d/e"}, "d/e"),
        ({"UW_JIT_CACHE_DIR": "", "XDG_CACHE_HOME": "/x"}, "/x/underworld3/jit"),
        ({"UW_JIT_CACHE_DIR": "/d", "JITCACHE_DIR": "/ours"}, "/d"),
        *[({"UW_JIT_CACHE_DIR": "/d", "UW_JIT_CACHE": off}, None) for off in ("0", "false", "no", "No", "FALSE")],
        *[({"UW_JIT_CACHE_DIR": "/d", "UW_JIT_CACHE": on}, "/d") for on in ("1", "off", "", " 0")],
    ],
)
def test_directory_is_what_it_was(site: Site, env: dict[str, Any], want: str | None) -> None:
    env = {"HOME": HOME, "UW_JIT_CACHE_DIR": None, "UW_JIT_CACHE": None, "XDG_CACHE_HOME": None, **env}
    seen = [site.run(old=old, do="directory", env=env).said[0]["directory"] for old in (True, False)]
    assert seen == [want, want]


def test_second_process_compiles_nothing(site: Site) -> None:
    assert [site.solve() for _ in range(2)] == [1, 0]
    assert len(site.modules()) == 1
    # No folder of a build, or of a module, is left.
    assert not list(site.temp.iterdir())


def test_hit_does_not_ask_for_the_environment_of_builds(site: Site) -> None:
    """For it underworld3 starts the wrappers of the compilers; install has asked."""
    site.solve()
    assert site.run(asked=True).said[0]["asked"] == 1


def test_removing_the_directory_clears_it(site: Site) -> None:
    site.solve()
    shutil.rmtree(site.cache)
    assert [site.solve() for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("request_", [{"cache": False}, {"env": {"UW_JIT_CACHE": "0"}}, {"env": {"JITCACHE": "0"}}])
def test_bypass(site: Site, request_: dict[str, Any]) -> None:
    """Nothing is looked up, nothing stored."""
    # A solver asks twice; with cache=False underworld3 keeps nothing in memory either.
    each = 1 if "env" in request_ else 2
    assert site.solve(**request_) == each
    assert not site.modules()
    site.solve()
    assert site.solve(**request_) == each


def test_library_that_cannot_be_used(site: Site) -> None:
    assert [site.solve(env={"JITCACHE_LIBRARY": "/nonexistent.so"}) for _ in range(2)] == [1, 1]


def test_load_never_waits(site: Site) -> None:
    """Somebody compiles the module: load_module is told at once that it is not there."""
    slow = site.make_compiler("slow", "sleep 5")
    compiling = site.begin(env={"CC": slow})
    deadline = time.monotonic() + 20
    while not list(site.temp.glob("*/build/temp*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    (said,) = site.run(do="load", env={"CC": slow}).said
    assert compiling.poll() is None, "the compile was over"
    assert not said["loaded"] and said["seconds"] < 1
    text, _ = compiling.communicate(timeout=60)
    assert json.loads(text.splitlines()[-1])["right"]


def test_whatever_is_stored_is_stored_as_it_is(site: Site, tmp_path: Path) -> None:
    """Upstream's tests store text under the name of a module, and look at the files."""
    fake = b"not a module at all, but 37 bytes of it"[:37]
    folder = tmp_path / "fake"
    folder.mkdir()
    (folder / "any.so").write_bytes(fake)
    (said,) = site.run(do="store", folder=str(folder), flat=True).said
    digits = said["hash"]
    assert sorted(p.name for p in site.cache.iterdir() if p.name not in ("v1", "CACHEDIR.TAG", "README.txt")) == [
        f".{digits}.lock", f"{digits}.manifest.json", f"{digits}.so",
    ]  # fmt: skip
    assert (site.cache / f"{digits}.so").read_bytes() == fake
    about = json.loads((site.cache / f"{digits}.manifest.json").read_text())
    assert about == {"version": 1, "modname": f"fn_ptr_ext_{digits}", "constants": [{"index": 0, "name": "A"}]}
    # It is no module: the next process says so and mends it.
    assert [site.solve(flat=True) for _ in range(2)] == [1, 0]


def test_without_flat_there_are_no_such_files(site: Site) -> None:
    site.solve()
    assert sorted(p.name for p in site.cache.iterdir()) == ["CACHEDIR.TAG", "README.txt", "v1"]


@pytest.mark.parametrize("ranks", [0, 2])
def test_flat_files_are_links_and_removing_one_is_a_miss(site: Site, ranks: int) -> None:
    site.solve(ranks, flat=True)
    (link,) = site.cache.glob("*.so")
    entry = next(file for file in site.modules() if file != link)
    assert link.stat().st_ino == entry.stat().st_ino
    assert site.solve(ranks, flat=True) == 0
    link.unlink()
    assert [site.solve(ranks, flat=True) for _ in range(2)] == [1, 0]
    assert link.exists()


def test_what_python_compiles_beside_a_source_is_no_input(site: Site, tmp_path: Path) -> None:
    """It appears in a folder of PYTHONPATH as soon as a program imports something from there; a module there counts."""
    place = tmp_path / "path"
    place.mkdir()
    env = {"PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{place}"}
    assert [site.solve(env=env) for _ in range(2)] == [1, 0]
    (place / "__pycache__").mkdir()
    assert site.solve(env=env) == 0
    (place / "module.py").write_text("")
    assert site.solve(env=env) == 1


def test_two_modules_are_two_entries(site: Site) -> None:
    assert [site.solve(callbacks=(c,)) for c in (F, G, F, G)] == [1, 1, 0, 0]
    assert len(site.modules()) == 2


def test_install_where_it_is_not(tmp_path: Path) -> None:
    from job import VENVS, variables

    code = "from jitcache.adapters import underworld3 as adapter\ntry: adapter.install()\nexcept ImportError as e: print(e)"
    command = [VENVS / "mpich" / "bin" / "python", "-c", code]
    p = subprocess.run(command, env=variables("mpich"), capture_output=True, text=True, check=False)
    assert p.returncode == 0 and "underworld3" in p.stdout, p.stderr
    (tmp_path / "underworld3" / "utilities").mkdir(parents=True)
    for name in ("__init__", "mpi", "utilities/__init__", "utilities/_jit_cache", "utilities/_jitextension"):
        (tmp_path / "underworld3" / f"{name}.py").write_text("")
    env = variables("mpich")
    env["PYTHONPATH"] += f":{tmp_path}"
    p = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "underworld3.utilities._jit_cache has no get_cache_dir" in p.stderr


COMMAND = "x86_64-linux-gnu-gcc -g -Wformat -Werror=format-security -Wdate-time -c cy_ext.c -o build/temp/cy_ext.o"
NOISE = ["Compiling cy_ext.pyx because it changed.", "running build_ext", "building 'fn_ptr_ext' extension", COMMAND]


@pytest.mark.parametrize(
    "line",
    [
        "cy_ext.h:3:70: error: 'nonsense' undeclared (first use in this function)",
        "cy_ext.h:1:10: fatal error: petsc.h: No such file or directory",
        "gcc: error: unrecognized command-line option '-nonsense'",
        "cy_ext.c:12:5: error: format not a string literal and no format arguments [-Werror=format-security]",
        "cy_ext.pyx:21:4: undeclared name not builtin: nonsense",
        "/usr/bin/ld: cannot find -lnonsense: No such file or directory",
        "ModuleNotFoundError: No module named 'Cython'",
        "error: command 'mpicc' failed: No such file or directory",
    ],
)
def test_error_is_the_line_that_says_it(line: str) -> None:
    from jitcache.adapters.underworld3 import _build

    log = "\n".join(
        [
            *NOISE,
            "cy_ext.h: In function 'UW_petsc_eqn_0':",
            line,
            "error: command '/usr/bin/gcc' failed with exit code 1",
        ]
    )
    assert _build.first_error(log) == line
    assert _build.first_error("\n".join(NOISE)) == ""


def test_error_of_the_compiler_is_the_exception(site: Site) -> None:
    """The flags of Debian's Python have the word error in them, and commands are printed."""
    (said,) = site.run(callbacks=["constants[0]*nonsense"], env={"CFLAGS": "-Werror=format-security"}).said
    assert said["error"] == "BuildError" and "error: " in said["text"] and "nonsense" in said["text"], said["text"]
    assert "Werror" in said["log"] and "Werror" not in said["text"]


def counters(site: Site) -> dict[str, Any]:
    """What the command says of the directory."""
    env = {**os.environ, "JITCACHE_DIR": str(site.cache), "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "jitcache", "stats", "-json"]
    said = json.loads(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)
    found: dict[str, Any] = said["total"]
    return found


@pytest.mark.parametrize("ranks", [0, 2])
def test_one_request_is_one_miss_or_one_hit(site: Site, ranks: int) -> None:
    site.solve(ranks)
    first = counters(site)
    assert (first["misses"], first["hits_disk"] + first["hits_memory"]) == (1, 0), first
    site.solve(ranks)
    second = counters(site)
    assert (second["misses"], second["hits_disk"] + second["hits_memory"]) == (1, 1), second


def test_lines_of_the_page_are_all_that_a_program_adds(site: Site) -> None:
    fake = ROOT / "examples" / "underworld3_shaped" / "fake"
    solve = f"""
from underworld3.utilities import _jitextension
result = _jitextension.getext([{F!r}], [_jitextension.Constant("A", 3.0)])
assert result.call(0, [2.0]) == 7.0
"""
    program = site.folder / "program.py"
    program.write_text(
        f"import sys\nsys.path.insert(0, {str(fake)!r})\n{samples.under('docs/underworld3.md', 'underworld3')}{solve}"
    )
    compiles = []
    for _ in range(2):
        site.compiles()
        ended = end(start("mpich", 0, [program], CC=site.compiler, UW_JIT_CACHE_DIR=site.cache, TMPDIR=site.temp))
        assert ended.status == 0, ended.text
        compiles.append(site.compiles())
    assert compiles == [1, 0]
    assert list(site.cache.glob("v1/entries/*/*.jce"))  # ours, not the fake's own
