"""With another C library than glibc nothing is built or loaded, and one sentence says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import build_library

ROOT = Path(build_library.__file__).parent
SENTENCE = "jitcache needs glibc"

# What Python's os.confstr asks.
CONFSTR = """
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
int main(int n, char **arguments)
{
    char text[64] = "";
    size_t size = confstr(_CS_GNU_LIBC_VERSION, text, sizeof text);
    printf("%d %d %s\\n", size != 0, errno, text);
    return 0;
}
"""


def python(*code: str, **env: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "PYTHONPATH": str(ROOT / "python"), **env}
    return subprocess.run(
        [sys.executable, "-c", "\n".join(code)], env=given, capture_output=True, text=True, check=False
    )


MUSL = (
    "import errno, os",
    "def confstr(name): raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))",
    "os.confstr = confstr",
)


def test_package_says_one_sentence_and_every_lookup_misses() -> None:
    p = python(
        *MUSL,
        "import jitcache",
        "print(jitcache.available())",
        "print(jitcache.default_cache().get(jitcache.Key(a=1)))",
    )
    assert p.returncode == 0, p.stderr
    assert SENTENCE in p.stdout.splitlines()[0]
    assert p.stdout.splitlines()[0].startswith("(False, ")
    assert p.stdout.splitlines()[1] == "None"
    assert len(p.stderr.strip().splitlines()) <= 2, p.stderr
    assert "Traceback" not in p.stderr


def test_library_is_not_even_opened(tmp_path: Path) -> None:
    """musl's loader would print what it does not find, symbol by symbol; with gcompat it would crash."""
    p = python(
        *MUSL, "import ctypes, jitcache", "jitcache.available()", "print('jitcache' in open('/proc/self/maps').read())"
    )
    assert p.stdout == "False\n", p.stderr


def test_wheel_is_not_built_for_such_a_python(tmp_path: Path) -> None:
    """As pip does from the source distribution, because no wheel fits."""
    (tmp_path / "sitecustomize.py").write_text("\n".join(MUSL))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    env.pop("JITCACHE_PORTABLE", None)
    p = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    said = p.stdout + p.stderr
    assert p.returncode != 0
    assert said.count(SENTENCE) == 1, said
    assert not list(tmp_path.glob("*.whl"))


def test_library_is_not_built_by_a_compiler_for_such_a_library(tmp_path: Path) -> None:
    """A compiler whose headers do not say glibc: musl's, or one that leaves it out."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        f'#!/bin/sh\nexec {" ".join(build_library.find_cc() or ["cc"])} "$@" -imacros {tmp_path}/no.h\n'
    )
    compiler.chmod(0o755)
    (tmp_path / "no.h").write_text("#include <features.h>\n#undef __GLIBC__\n")
    command = [sys.executable, str(ROOT / "build_library.py"), "--output", str(tmp_path / "out")]
    p = subprocess.run(command, env={**os.environ, "CC": str(compiler)}, capture_output=True, text=True, check=False)
    assert p.returncode == 1
    assert SENTENCE in p.stderr
    assert len(p.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_musl_is_told_from_glibc_by_its_compiler_and_its_answer(tmp_path: Path) -> None:
    if shutil.which("musl-gcc") is None:
        pytest.skip("no musl-gcc here")
    (tmp_path / "a.c").write_text(CONFSTR)
    said = []
    for compiler in (["musl-gcc", "-static"], build_library.find_cc()):
        subprocess.run([*compiler, "-D_GNU_SOURCE", "-o", tmp_path / "a", tmp_path / "a.c"], check=True)
        said.append(subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True).stdout.split())
    assert said[0] == ["0", "22"]
    assert said[1][2] == "glibc"
    assert not build_library.glibc_of(["musl-gcc"])
    assert build_library.glibc_of(build_library.find_cc())
