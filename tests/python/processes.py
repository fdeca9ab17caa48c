"""Other processes, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def start(code: str, *args: object, python: str = sys.executable, **more: object) -> subprocess.Popen[str]:
    """Start Python on a piece of code, with this checkout's package and this environment."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **dict(more.pop("env", {}))}
    return subprocess.Popen([python, "-c", textwrap.dedent(code), *map(str, args)], env=env, text=True, **more)


def printed(p: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a process; return what it printed. It has ten minutes, because the machine may be busy."""
    try:
        return p.communicate(timeout=600)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        raise AssertionError(f"hangs; it printed {out!r} and {err!r}") from None


def run(code: str, *args: object, **more: object) -> subprocess.CompletedProcess[str]:
    """Run Python on a piece of code to its end; return what it printed."""
    p = start(code, *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    out, err = printed(p)
    return subprocess.CompletedProcess(p.args, p.returncode, out, err)


def check(code: str, *args: object, **more: object) -> str:
    """Run Python on a piece of code, assert that it succeeds, and return its standard output."""
    p = run(code, *args, **more)
    assert p.returncode == 0, f"{p.returncode}: {p.stdout}{p.stderr}"
    return p.stdout
