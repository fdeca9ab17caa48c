"""Go's own tests, the race detector, and the fuzz targets."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator

from . import failures, skips
from .common import ROOT, Count, go_command, run, takes, total


def test(area: str, *args: str, env: dict[str, str] | None = None, go: str = "") -> Count:
    """Count the top-level tests of a run of go test, with this checkout's Go or another."""
    status, text = run(area, [go or go_command(), "test", "-json", *args], env=env)
    counts = {"pass": 0, "fail": 0, "skip": 0}
    said: dict[str, list[str]] = {}
    for event in _events(text):
        name = ".".join(filter(None, (event.get("Package") or event.get("ImportPath"), event.get("Test"))))
        action, top = event["Action"], event.get("Test") and "/" not in event["Test"]
        said.setdefault(name, []).append(event.get("Output", ""))
        if action in ("fail", "build-fail"):
            failures.note(area, name, "".join(said[name]))
        if top and action in counts:
            counts[action] += 1
        if top and action == "skip":
            skips.note(area, name)
    failed = counts["fail"] or int(status != 0)  # or it did not build
    return Count(counts["pass"] + counts["fail"], counts["skip"], failed)


def _events(text: str) -> Iterator[dict[str, str]]:
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


#: core/cpuid is a module of its own, so `./...` does not include it. It has the name of the module that it replaces (go.mod).
CPUID = "github.com/klauspost/cpuid/v2"


def parts() -> dict[str, tuple[str, ...]]:
    """Return the packages with tests, each with the rooms that these stand on: its own, and what the tests import."""
    found: dict[str, set[str]] = {}
    for path in ROOT.rglob("*_test.go"):
        folder = path.parent.relative_to(ROOT).as_posix()
        if folder.startswith((".", "build/", "tests/")):  # .venv may have a Go, with tests of its own
            continue
        imported = set(re.findall(r'^\s+(?:\w+ )?"jitcache/([\w/]+)"$', path.read_text(), re.MULTILINE)) - {
            "core/control"
        }
        found.setdefault(folder, {folder, f"{folder} tests"}).update(imported)
    return {f"./{folder}": tuple(sorted(rooms)) for folder, rooms in sorted(found.items())}


def _packages(area: str) -> list[str]:
    """Return the packages of an area that run."""
    return [CPUID if part == "./core/cpuid" else part for part in parts() if takes(area, part)]


#: Packages whose tests go through each place where a call can fail, or through a million members. make test, and the race
#: detector, run a part of that, which is what -short says; a push runs all.
LONG = ("./bundle", "./core/store")


def _run(area: str, *flags: str) -> Count:
    """Run the packages of an area that are chosen, the long ones in short. The area lint has go vet."""
    packages = _packages(area)
    runs = [([], [p for p in packages if p not in LONG]), (["-short"], [p for p in packages if p in LONG])]
    return total([test(area, "-count=1", *flags, *more, *chosen) for more, chosen in runs if chosen])


def tests() -> Count:
    return _run("go", "-vet=off")


def long() -> Count:
    """The packages of which make test runs a part."""
    packages = [p for p in _packages("go-push") if p in LONG]
    return test("go-push", "-count=1", "-vet=off", *packages) if packages else Count(0, 0, 0)


def arch() -> Count:
    """The order of the rooms, and what the tables of ARCHITECTURE.md say."""
    return test("arch", "-count=1", "./tests/arch")


def race() -> Count:
    return _run("race", "-race")


def _targets() -> list[tuple[str, str]]:
    """Return package and name of every fuzz target."""
    found = []
    command = ["git", "ls-files", "-co", "--exclude-standard", "*_test.go"]
    for file in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
        for name in re.findall(r"^func (Fuzz\w+)\(", (ROOT / file).read_text(), re.MULTILINE):
            found.append((f"./{os.path.dirname(file)}", name))
    return found


def _fuzz(area: str, seconds: int) -> Count:
    counts = []
    for package, name in _targets():
        command = [go_command(), "test", package, "-run=^$", f"-fuzz=^{name}$", f"-fuzztime={seconds}s"]
        status, text = run(area, command)
        # Until Go 1.27 the end of the time is sometimes reported as a failure
        # (golang/go#75804). A real failure comes with its input.
        found = status != 0 and not ("context deadline exceeded" in text and "Failing input" not in text)
        counts.append(Count(1, 0, int(found)))
    return total(counts)


def fuzz() -> Count:
    return _fuzz("fuzz", 60)


def fuzz_short() -> Count:
    return _fuzz("fuzz-short", 5)
