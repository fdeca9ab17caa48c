"""The variable JITCACHE_NUMBA, in a virtual environment with the wheel and a program without a line of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest
import samples
from project import ROOT

PROGRAM = """
import numba
from numba.core import event
compiles = event.RecordingListener()  # Numba's own: beside one of others nothing is found by its source alone
event.register("numba:compile", compiles)
@numba.njit("int64(int64)")
def eager(x):
    return x + 1
@numba.njit
def lazy(x):
    return eager(x) + 1
@numba.njit(cache=HERE)
def asks(x):
    return x - 1
space = {"numba": numba}
exec("@numba.njit(cache=True)\\ndef nowhere(x):\\n    return x * 2\\n" if HERE else "nowhere = lambda x: x * 2", space)
print(eager(1), lazy(1), asks(1), space["nowhere"](1), [e.data["dispatcher"].__name__ for _, e in compiles.buffer if e.is_start])
"""
ALL = "2 3 0 2 ['eager', 'lazy', 'asks', 'nowhere']"
NONE = "2 3 0 2 []"


class Installed(NamedTuple):
    """A virtual environment with the wheel, and Numba from the one that runs the tests."""

    folder: Path

    def run(self, code: str, **env: str) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JITCACHE_", "NUMBA_", "XDG_", "PYTHON"))}
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        env = {**kept, "HOME": str(home), "JITCACHE_DIR": str(self.folder / "cache"), **env}
        command = [str(self.folder / "bin" / "python"), "-c", code]
        return subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    builder = os.environ.get("JITCACHE_TEST_BUILDER", str(ROOT / ".venv" / "bin" / "python"))
    build = [builder, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(ROOT)]
    library = os.environ.get("JITCACHE_LIBRARY", str(ROOT / "build" / "lib" / "libjitcache.so"))
    subprocess.run(build, env={**os.environ, "JITCACHE_PREBUILT": library}, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    (Path(site) / "numba-of-the-tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(folder)


def program(here: bool = True) -> str:
    return f"HERE = {here}\n" + PROGRAM


def test_variable_has_everything_cached_from_the_first_function_on(installed: Installed) -> None:
    first = installed.run(program(), JITCACHE_NUMBA="everything")
    assert (first.stdout.strip(), first.returncode) == (ALL, 0), first.stderr
    second = installed.run(program(), JITCACHE_NUMBA="everything")
    assert (second.stdout.strip(), second.stderr) == (NONE, "")


def test_variable_may_ask_for_those_that_ask(installed: Installed) -> None:
    other = str(installed.folder / "other")
    installed.run(program(), JITCACHE_NUMBA="cached", JITCACHE_DIR=other)
    second = installed.run(program(), JITCACHE_NUMBA="cached", JITCACHE_DIR=other)
    assert second.stdout.strip() == "2 3 0 2 ['eager', 'lazy']", second.stderr


def test_option_of_llvm_that_is_set_before_numba_is_imported_counts(installed: Installed) -> None:
    env = {"JITCACHE_NUMBA": "everything", "JITCACHE_DIR": str(installed.folder / "options")}
    option = "from llvmlite.binding import set_option\nset_option('', '-force-vector-width=2')\n"
    for text, printed in (("", ALL), ("", NONE), (option, ALL)):
        ran = installed.run(text + program(), **env)
        assert (ran.stdout.strip(), ran.returncode) == (printed, 0), ran.stderr


def test_module_that_is_only_looked_for_is_waited_for(installed: Installed) -> None:
    probe = "import importlib.util\nassert all(importlib.util.find_spec(n) for n in ('numba', 'llvmlite', 'numba'))\n"
    env = {"JITCACHE_NUMBA": "everything", "JITCACHE_DIR": str(installed.folder / "probe")}
    first, second = (installed.run(probe + program(), **env) for _ in range(2))
    assert (first.stdout.strip(), second.stdout.strip()) == (ALL, NONE), second.stderr


def test_import_that_fails_may_be_tried_again(installed: Installed) -> None:
    broken = "import sys\nsys.modules['numba.core.config'] = None\ntry:\n    import numba\nexcept ImportError:\n    print('no', end=' ')\n"
    again = "for name in [n for n in sys.modules if n.startswith('numba')]:\n    del sys.modules[name]\n"
    env = {"JITCACHE_NUMBA": "everything", "JITCACHE_DIR": str(installed.folder / "again")}
    first, second = (installed.run(broken + again + program(), **env) for _ in range(2))
    assert (first.stdout.strip(), second.stdout.strip()) == (f"no {ALL}", f"no {NONE}"), second.stderr


def test_whoever_goes_through_the_finders_meanwhile_misses_none(installed: Installed) -> None:
    code = (
        "import sys\nfinders, going = list(sys.meta_path), [iter(sys.meta_path) for _ in sys.meta_path]\n"
        "asked = [[f for _, f in zip(range(n), one)] for n, one in enumerate(going)]\nimport numba\n"
        "met = [known + list(one) for known, one in zip(asked, going)]\n"
        "print(len(met) > 2, [f for one in met for f in finders if f not in one])"
    )
    assert installed.run(code, JITCACHE_NUMBA="everything").stdout.strip() == "True []"


def test_program_without_the_variable_has_nothing_of_it(installed: Installed) -> None:
    code = "import sys, numba; print([n for n in sys.modules if 'jitcache' in n])"
    assert installed.run(code).stdout.strip() == "[]"
    found = installed.run(program(here=False))
    assert found.stdout.strip() == "2 3 0 2 ['eager', 'lazy', 'asks']", found.stderr


def test_program_without_numba_imports_nothing_of_ours(installed: Installed) -> None:
    code = "import sys; print([n for n in sys.modules if 'jitcache' in n])"
    assert installed.run(code, JITCACHE_NUMBA="everything").stdout.strip() == "['_jitcache_startup']"


def test_word_that_it_does_not_know_is_said_and_stops_nothing(installed: Installed) -> None:
    ran = installed.run(program(here=False), JITCACHE_NUMBA="evrything")
    assert ran.returncode == 0
    assert "JITCACHE_NUMBA=evrything: want everything, cached or verify" in ran.stderr


def test_without_the_file_in_site_packages_nothing_is_kept(installed: Installed) -> None:
    (path,) = installed.folder.glob("lib/*/site-packages/jitcache_startup.pth")
    text = path.read_text()
    path.unlink()
    try:
        ran = installed.run(program(here=False), JITCACHE_NUMBA="everything")
    finally:
        path.write_text(text)
    assert ran.stdout.strip() == "2 3 0 2 ['eager', 'lazy', 'asks']", ran.stderr


def test_line_of_the_page_needs_no_line_in_the_program(installed: Installed) -> None:
    home = installed.folder / "home"
    home.mkdir(exist_ok=True)
    (home / "program.py").write_text(program())
    shell = f"import subprocess; print(subprocess.check_output(['sh', '-euc', {samples.under('docs/numba.md', 'Numba')!r}], text=True), end='')"
    env = {"PATH": f"{installed.folder / 'bin'}:{os.environ['PATH']}", "JITCACHE_DIR": str(installed.folder / "page")}
    assert [installed.run(shell, **env).stdout.strip() for _ in range(2)] == [ALL, NONE]
