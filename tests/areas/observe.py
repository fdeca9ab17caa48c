"""The observer compared with strace, for compilers, linkers, wrappers and builds; and the tracer's controls."""

from __future__ import annotations

import shutil
from pathlib import Path

from . import control_tests, cuda, go
from .common import BUILD, ROOT, Count, at_once, environment, go_command, run, skipped, venv
from .control import TRIES, red
from .control_tests import ControlTest


def tests() -> Count:
    """Compare the observer with strace. It needs the packages of tests/deps-ci.sh, and Cython and NVRTC from PyPI."""
    if shutil.which("strace") is None:
        return skipped("observe", "strace")
    python = venv("observe", "observe", ["Cython>=3", "setuptools"])
    if python is None:
        return Count(0, 0, 1)
    wheels = cuda.real("observe")
    if wheels is None:
        return Count(0, 0, 1)
    env = environment(JITCACHE_TEST_OBSERVE_COMPARE=python, **wheels)
    return go.test("observe", "-count=1", "./tests/observe/compare", env=env)


def controls() -> Count:
    """Each mechanism of the tracer (observe/tracer/control.h) is taken out, and its tests must fail."""
    program = BUILD / "controls" / "observe.test"
    status, _ = run("observe-controls", [go_command(), "test", "-c", "-o", str(program), "./observe"])
    if status != 0:
        return Count(0, 0, 1)
    return at_once(lambda test: _control(program, test), control_tests.of_area("observe-controls"))


def _control(program: Path, test: ControlTest) -> Count:
    name = test.test
    command = [str(program), f"-test.run=^{name}$", "-test.v", "-test.timeout=2m"]
    env = environment(JITCACHE_TEST_OBSERVE_WITHOUT=test.control.replace("JO_CONTROL_", ""))
    is_red = False
    for _ in range(TRIES):
        _, text = run("observe-controls", command, env=env, cwd=ROOT / "observe")
        if f"--- SKIP: {name} " in text:
            return skipped("observe-controls", f"{test.control}: {name}")
        if is_red := f"--- FAIL: {name} " in text:
            break
    return red("observe-controls", test.control, name, is_red)
