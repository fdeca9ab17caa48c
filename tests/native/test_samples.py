"""The samples of docs/native.md, as they stand there, in two processes."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
import samples
from conftest import ROOT, need, rest

pytestmark = [rest, pytest.mark.skipif(find_spec("Cython") is None, reason="no Cython")]

#: What the samples leave open. solver.c has a header, which is another in each process.
BEGIN = """
import sys
text = 'double residual(double x) { return x + 1; }\\n'
name, entries = sys.argv[1], []
pyx = f'cdef extern from "{name}.h":\\n    int {name}_value()\\ndef value():\\n    return {name}_value()\\n'
header = f'static int {name}_value(void) {{ return 7; }}\\n'
"""
END = """
assert module.value() == 7 and solver.f() == 2
print([e.hit for e in entries], missed)
"""


def test_samples_compile_once_and_say_what_has_changed(tmp_path: Path) -> None:
    need("gcc")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no Python.h")
    (tmp_path / "solver.pyx").write_text("def f():\n    return 2\n")
    (tmp_path / "solver.c").write_text('#include "solver.h"\nint f(void) { return N; }\n')
    first = samples.under("docs/native.md", "C, C++ and Cython")
    changed = samples.under("docs/native.md", "What a result depends on")
    names = samples.under("docs/native.md", "Names that differ from run to run")
    head, shared, extension = first.split("\n\n")
    note = "entries.append(entry)\n"
    program = [
        BEGIN,
        head,
        "\n",
        shared,
        "\n",
        note,
        extension,
        note,
        changed,
        note,
        "missed = entry.missed\n",
        names,
        note,
        END,
    ]
    (tmp_path / "program.py").write_text("".join(program))
    said = []
    for n in range(2):
        (tmp_path / "solver.h").write_text(f"#define N {n}\n")
        command = [sys.executable, "program.py", f"name{n}"]
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "JITCACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": str(ROOT / "python"),
        }
        p = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert p.returncode == 0, p.stderr
        said.append(p.stdout)
    assert said[0].startswith("[False, False, False, False] ")
    assert said[1] == f"[True, True, False, True] {tmp_path}/solver.h: content changed\n"
