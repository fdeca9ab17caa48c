"""Packages of the interpreter that a virtual environment was made from: the program's, and not Python's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import cutlass
import pytest
from project import Project


def interpreter(folder: Path) -> Path:
    """Make an interpreter that has this one's library and packages of its own, of which a virtual environment is made."""
    base, library = Path(sys.base_prefix), folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library.mkdir(parents=True)
    (folder / "bin").mkdir()
    for entry in Path(sysconfig.get_path("stdlib")).iterdir():
        if entry.name not in ("site-packages", "dist-packages", "__pycache__"):
            (library / entry.name).symlink_to(entry)
    (library / "site-packages").mkdir()
    for entry in (base / "lib").glob("libpython*"):
        (folder / "lib" / entry.name).symlink_to(entry)
    made = folder / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    shutil.copy(Path(sys.executable).resolve(), made)
    found = subprocess.run([made, "-c", "import sys; print(sys.prefix)"], check=True, capture_output=True, text=True)
    assert Path(found.stdout.strip()) == folder
    return made


PACKAGE = """
FACTOR = 2


def scaled(x):
    return x * FACTOR
"""

APP = """
import cutlass
import cutlass.cute as cute
from installed import scaled

@cute.jit
def f(x: cutlass.Int32):
    cute.printf("%d\\n", scaled(x))
"""

RUN = """
    import app, installed, sys
    from jitcache.adapters import cute_dsl
    assert sys.prefix != sys.base_prefix and installed.__file__.startswith(sys.base_prefix)
    result = cute_dsl.compile(app.f, 1, key="source")
    print(result.how, result.hit, flush=True)
    result(1)
"""


@pytest.mark.parametrize("without", ["", "site"])
def test_package_beside_pythons_library_counts_by_value(project: Project, tmp_path: Path, without: str) -> None:
    base = interpreter(tmp_path / "base")
    subprocess.run([base, "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "venv"], check=True)
    package = base.parent.parent / "lib" / base.name / "site-packages" / "installed.py"
    package.write_text(PACKAGE)
    project.write(app=APP)
    python = str(tmp_path / "venv" / "bin" / "python")
    dsl = Path(cutlass.__file__).resolve().parent.parent
    paths = [str(dsl), str(next(p for p in dsl.parents if p.name == "site-packages"))]
    env = {"PYTHONPATH": os.pathsep.join([project.environment()["PYTHONPATH"], *paths]), "PYTHON": python}
    if without:
        env["WITHOUT"] = without
    said = [project.check(RUN, **env).out.split()]
    package.write_text(PACKAGE.replace("FACTOR = 2", "FACTOR = 3"))
    said += [project.check(RUN, **env).out.split() for _ in range(2)]
    # Of Python's own modules few may be asked.
    how = "traced" if without else "source"
    assert said == [[how, "False", "2"], [how, "False", "3"], [how, "True", "3"]]
