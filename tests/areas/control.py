"""Controls: one mechanism is taken out, and the tests that name its control must fail (control_tests.py).

That they are green with the mechanism, the other areas show.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Callable

from . import c, control_tests, failures, without
from .common import BUILD, ROOT, Count, at_once, build_library, environment, go_command, run, skipped, total

#: How often a test may run until it fails. A test for a race does not find it in each run: one run of seven passed on a
#: loaded machine.
TRIES = 5

#: The arguments of the C programs after the folder: numbers of children, rounds or seconds; then the seconds after which a
#: child counts as hanging. signals.c loads the library itself.
C_ARGUMENTS = {"api.c": [], "fork_threads.c": ["100", "3"]}
C_OTHERS = ["10", "3"]

#: Seconds of a C program. With its mechanism the longest takes 25 on two idle processors; without it some hang, and are red.
C_LIMIT = 120

Builder = Callable[[Path, str], Path]


def tests() -> Count:
    return total([misspelled(), of_area("controls", threads=4)])


def misspelled() -> Count:
    """A control that does not exist would take nothing out: it must neither build nor run."""
    try:
        build_library.check_control("nolease,nolaese")
        built = True
    except ValueError:
        built = False
    failed = 0
    for out in ("nolaese", "nolease,nolaese", ""):
        linked = ["-ldflags", f"-X jitcache/core/control.out={out}"]
        status, text = run(
            "controls", [go_command(), "test", "-tags", "control", *linked, "./core/lease", "-run", "^$"]
        )
        failed += status == 0 or "no control" not in text
    return Count(4, 0, int(built) + failed)


def of_area(
    area: str, threads: int = 1, build: Builder = without.build, python: str = sys.executable, **env: str
) -> Count:
    """Run the tests of an area that name controls, each in its control's build, so many controls at once.

    ``python`` runs those in Python.
    """
    of_control: dict[str, dict[str, list[str]]] = {}
    for test in control_tests.of_area(area):
        of_control.setdefault(test.control, {}).setdefault(test.place, []).append(test.test)

    def run_control(control: str) -> Count:
        return _control(area, control, of_control[control], build, python, env)

    return at_once(run_control, of_control, threads)


def _control(
    area: str, control: str, places: dict[str, list[str]], build: Builder, interpreter: str, env: dict[str, str]
) -> Count:
    counts = []
    folder = BUILD / "controls" / area / control
    if any(Path(place).suffix for place in places):
        build(folder, control)
    python: dict[Path, list[str]] = {}
    for place, names in places.items():
        if place.endswith(".py"):
            python.setdefault(Path(place).parent, []).extend(f"{place}::{name}" for name in names)
            continue
        if Path(place).suffix:
            failed = c_failures(area, Path(place).name, names, folder)
        else:
            failed = go_failures(area, control, place, names)
        counts += [red(area, control, f"{place}: {name}", name in failed) for name in names]
    counts += [python_red(area, control, nodes, folder, interpreter, **env) for nodes in python.values()]
    return total(counts)


def red(area: str, control: str, test: str, is_red: bool) -> Count:
    """Count a test that must fail under a control, and note it as a failure if it passed."""
    if not is_red:
        failures.note(area, f"{control}: {test} is green", f"{control}: {without.controls().get(control, '')}")
    return Count(1, 0, int(not is_red))


def go_failures(area: str, control: str, package: str, names: list[str]) -> set[str]:
    """Return which of a package's tests fail without a mechanism, in one of TRIES runs."""
    program = without.tests(area, package, control)
    command = [go_command(), "tool", "test2json", str(program), "-test.v=test2json", "-test.timeout=10m"]
    failed: set[str] = set()
    for _ in range(TRIES):
        left = [name for name in names if name not in failed]
        if not left:
            break
        # A slash comes before a subtest.
        pattern = "/".join("^(" + "|".join(dict.fromkeys(part)) + ")$" for part in zip(*(n.split("/") for n in left)))
        _, text = run(area, [*command, f"-test.run={pattern}"], cwd=ROOT / package)
        events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        failed |= {event["Test"] for event in events if event["Action"] == "fail" and "Test" in event}
    program.unlink()
    return failed


def python_red(
    area: str, control: str, nodes: list[str], build: Path, python: str = sys.executable, **more: str
) -> Count:
    """Count pytest nodes of one folder, which must fail with the library of a build, each in one of TRIES runs.

    The first run has all of them, because most of a run's time is its start. The next ones have those that were still
    green. After a run that did not come to its end they run one by one.
    """
    env = environment(
        JITCACHE_LIBRARY=str(build / "libjitcache.so"),
        JITCACHE_TEST_LAUNCHER=str(build / build_library.COMMAND),
        **more,
    )
    ends: dict[str, str] = {}
    together = True
    for _ in range(TRIES):
        left = [node for node in nodes if ends.get(node) not in ("failure", "skipped")]
        if not left:
            break
        for some in [left] if together else [[node] for node in left]:
            found = outcomes(area, some, env, python)
            together = together and found.keys() == set(some)
            ends.update(found)
    skips = [node for node in nodes if ends.get(node) == "skipped"]
    counts = [skipped(area, *(f"{control}: {node}" for node in skips))]
    counts += [red(area, control, node, ends.get(node) == "failure") for node in nodes if node not in skips]
    return total(counts)


def outcomes(area: str, nodes: list[str], env: dict[str, str], python: str = sys.executable) -> dict[str, str]:
    """Run pytest nodes; return how each ended: failure, error, skipped or passed. Some lack if the run was killed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}", "-o", "junit_family=xunit1"]  # which has the names of files
        run(area, [*command, *nodes], env=env)
        cases = ET.parse(report).iter("testcase") if report.exists() else ()
        return {
            f"{case.attrib['file']}::{case.attrib['name']}": next(
                (part.tag for part in case if part.tag in ("failure", "error", "skipped")), "passed"
            )
            for case in cases
        }


def c_failures(area: str, source: str, names: list[str], folder: Path) -> set[str]:
    """Return which of a program's tests fail with a library in one of TRIES runs; all, if a host's program was killed."""
    program = c.build(area, source, "c++11" if source.endswith("cpp") else "gnu99", library=folder, out=folder)
    failed: set[str] = set()
    if program is None:
        return failed
    loads = [str(folder / "libjitcache.so")] if source == "signals.c" else C_ARGUMENTS.get(source, C_OTHERS)
    # Whether threads are in Go when the process forks is a matter of luck: with one child in seven on
    # an idle machine, with fewer on a busy one. A test ends with the first child that hangs.
    for _ in range(TRIES):
        status, text = c.run_in_folder(area, program, loads, limit=C_LIMIT)
        if (status < 0 or status > 128 or status == 124) and source != "api.c":
            return set(names)
        failed.update(re.findall(r"^FAILED (\w+)$", text, re.MULTILINE))
        if failed.issuperset(names):
            break
    return failed
